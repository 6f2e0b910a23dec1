# Families and their members.
#
#   convoy_family(FAMILY TYPE HEADER "KIND")     FAMILY is the namespace below convoy:: and the target's name
#   convoy_member(FAMILY OBJECT SOURCE)          one line a member: compiles SOURCE and lists OBJECT
#   convoy_catalog(FAMILY)                       writes the list, after the last member
#
# A member's source defines `extern constinit const TYPE OBJECT{...}` in namespace convoy::FAMILY.

function(convoy_family family type header kind)
  set_property(GLOBAL PROPERTY CONVOY_${family} "")
  set_property(GLOBAL PROPERTY CONVOY_${family}_TYPE "${type}")
  set_property(GLOBAL PROPERTY CONVOY_${family}_HEADER "${header}")
  set_property(GLOBAL PROPERTY CONVOY_${family}_KIND "${kind}")
endfunction()

function(convoy_member family object source)
  set_property(GLOBAL APPEND PROPERTY CONVOY_${family} "${object}")
  target_sources(convoy_${family} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/${source})
endfunction()

function(convoy_catalog family)
  get_property(members GLOBAL PROPERTY CONVOY_${family})
  get_property(type GLOBAL PROPERTY CONVOY_${family}_TYPE)
  get_property(header GLOBAL PROPERTY CONVOY_${family}_HEADER)
  get_property(kind GLOBAL PROPERTY CONVOY_${family}_KIND)
  set(declared "")
  set(listed "")
  foreach(member IN LISTS members)
    string(APPEND declared "extern const ${type} ${member};\n")
    string(APPEND listed "&${member}, ")
  endforeach()
  set(text "// Written by core/base/catalog.cmake.
#include \"${header}\"
namespace convoy::${family} {
${declared}static const ${type}* const members[] = {${listed}nullptr};
const Catalog<${type}>& catalog() {
    static const Catalog<${type}> list{\"${kind}\", {members, std::size(members) - 1}};
    return list;
}
}  // namespace convoy::${family}
")
  set(file ${CMAKE_BINARY_DIR}/catalogs/${family}.cpp)
  file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
  target_sources(convoy_${family} PRIVATE ${file})
endfunction()
