// One attribute of a copied object: what it holds, and the ways to make it true.
#pragma once

#include "io/hdf5/write.hpp"
#include "io/timestamp.hpp"

namespace convoy::io::h5 {

/// An attribute whose value is replaced or whose name is given up; its HDF5 type stays.
class Item {
  public:
    Item(hid_t object, std::string name, const std::string& where);

    /// The one number that it holds, be it at the front of a text.
    std::optional<double> number() const;
    /// The time that it holds as text.
    std::optional<Timestamp> time() const;
    bool holds_text() const { return value_ && !value_->texts.empty(); }

    /// Another number, with the same unit behind it where it is text. Given up where an integer cannot hold
    /// it.
    void set(double number);
    /// Text of the same kind: of fixed length where it was, longer only where it must.
    void set(const std::string& text);
    /// A time moved by seconds, in the precision and spelling that it has.
    void move(double seconds);
    /// The name says what is no longer so: source_NAME.
    void give_up();

  private:
    void set_integer(long long whole);
    Attribute open() const;
    std::string what() const { return "attribute " + name_ + " cannot be rewritten"; }
    /// Length of the number at the front of the text, and that number.
    std::size_t digits(double& result) const;

    hid_t object_;
    std::string name_;
    const std::string& where_;
    std::optional<Value> value_;
};

}  // namespace convoy::io::h5
