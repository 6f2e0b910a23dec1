// One value that describes a signal, an attribute or a small dataset: what it holds, and the ways to make it
// true.
#pragma once

#include "io/hdf5/write.hpp"
#include "io/timestamp.hpp"

namespace convoy::io::h5 {

/// A value that is replaced or whose name is given up; its HDF5 type stays.
class Item {
  public:
    enum class Kind { attribute, dataset };
    /// The attribute `name` of an object, or the dataset at the path `name` of a file.
    Item(hid_t object, std::string name, const std::string& where, Kind kind = Kind::attribute);

    /// The one number that it holds, be it at the front of a text.
    std::optional<double> number() const;
    /// The time that it holds as text.
    std::optional<Timestamp> time() const;
    bool holds_text() const { return value_ && !value_->texts.empty(); }
    /// The moments that it may mean, be it text, a count since 1970 or GPS seconds.
    std::vector<Timestamp> moments() const;

    /// Another number, with the same unit behind it where it is text. Given up where its type cannot hold it.
    void set(double number);
    /// Text of the same kind: of fixed length where it was, longer only where it must (a dataset is then
    /// given up).
    void set(const std::string& text);
    /// A time moved by seconds, in the precision and spelling that it has. Given up where integers would
    /// round it by more than `allowed` seconds.
    void move(double seconds, double allowed);
    /// The name says what is no longer so: source_NAME.
    void give_up();

  private:
    Type type() const;
    void write(hid_t type, const void* data);
    std::string what() const;
    /// Length of the number at the front of the text, and that number.
    std::size_t digits(double& result) const;

    hid_t object_;
    std::string name_;
    Kind kind_;
    const std::string& where_;
    std::optional<Value> value_;
};

}  // namespace convoy::io::h5
