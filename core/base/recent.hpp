// The last few things that were made of a kind, for whoever asks for one of them again: the files of a batch
// have filters and tables in common.
#pragma once

#include <algorithm>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

namespace convoy {

/// Keeps at most `most` values by their keys; those asked for longest ago go first. Safe to share among
/// threads.
template <class Key, class Value>
class Recent {
  public:
    explicit Recent(std::size_t most) : most_(most) {}

    /// The value of `key`, made by `make` where it is not there. Threads that miss at once may each make one.
    template <class Make>
    std::shared_ptr<const Value> get(const Key& key, Make&& make) {
        if (auto found = find(key)) return found;
        std::shared_ptr<const Value> made = std::forward<Make>(make)();
        const std::scoped_lock lock(mutex_);
        entries_.emplace_front(key, made);
        if (entries_.size() > most_) entries_.pop_back();
        return made;
    }

  private:
    using Entry = std::pair<Key, std::shared_ptr<const Value>>;

    std::shared_ptr<const Value> find(const Key& key) {
        const std::scoped_lock lock(mutex_);
        const auto at =
            std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.first == key; });
        if (at == entries_.end()) return nullptr;
        entries_.splice(entries_.begin(), entries_, at);
        return at->second;
    }

    std::size_t most_;
    std::mutex mutex_;
    std::list<Entry> entries_;
};

}  // namespace convoy
