// The door to cairo. The library is opened when the first picture is drawn, since it brings fonts and X11
// that no other work should wait for; its functions have their names without the prefix here.
#pragma once

#include <cairo/cairo.h>

namespace convoy::pipelines::cairo {

/// The address of a function in the library. Throws where the library cannot be opened, or lacks it.
void* address_of(const char* name);

template <class F>
struct Function;

template <class R, class... A>
struct Function<R(A...)> {
    const char* name;
    R operator()(A... a) const { return reinterpret_cast<R (*)(A...)>(address_of(name))(a...); }
};

#define CONVOY_CAIRO(name) inline constexpr Function<decltype(::cairo_##name)> name{"cairo_" #name};
CONVOY_CAIRO(clip)
CONVOY_CAIRO(create)
CONVOY_CAIRO(destroy)
CONVOY_CAIRO(fill)
CONVOY_CAIRO(get_source)
CONVOY_CAIRO(image_surface_create)
CONVOY_CAIRO(image_surface_get_data)
CONVOY_CAIRO(image_surface_get_stride)
CONVOY_CAIRO(line_to)
CONVOY_CAIRO(move_to)
CONVOY_CAIRO(paint)
CONVOY_CAIRO(pattern_set_filter)
CONVOY_CAIRO(rectangle)
CONVOY_CAIRO(restore)
CONVOY_CAIRO(rotate)
CONVOY_CAIRO(save)
CONVOY_CAIRO(scale)
CONVOY_CAIRO(select_font_face)
CONVOY_CAIRO(set_font_size)
CONVOY_CAIRO(set_line_join)
CONVOY_CAIRO(set_line_width)
CONVOY_CAIRO(set_source_rgb)
CONVOY_CAIRO(set_source_surface)
CONVOY_CAIRO(show_text)
CONVOY_CAIRO(status)
CONVOY_CAIRO(status_to_string)
CONVOY_CAIRO(stroke)
CONVOY_CAIRO(surface_destroy)
CONVOY_CAIRO(surface_flush)
CONVOY_CAIRO(surface_mark_dirty)
CONVOY_CAIRO(surface_write_to_png)
CONVOY_CAIRO(surface_write_to_png_stream)
CONVOY_CAIRO(text_extents)
CONVOY_CAIRO(translate)
#undef CONVOY_CAIRO

}  // namespace convoy::pipelines::cairo
