// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import io.kiln.base.Bytes;
import io.kiln.base.LazyList;
import java.util.function.Function;

/** A list of items that stay in the blob: they were checked once, and each is made an object when it is asked for. */
final class ItemsInBlob<T> extends LazyList<T> {
    private final Bytes blob;
    private final String name;
    private final int[] offsets;
    private final Function<ModuleReader, T> item;

    /**
     * @param name the file's name, for messages
     * @param offsets where each item begins; the caller keeps no reference to them
     * @param item reads one of them
     */
    ItemsInBlob(Bytes blob, String name, int[] offsets, Function<ModuleReader, T> item) {
        this.blob = blob;
        this.name = name;
        this.offsets = offsets;
        this.item = item;
    }

    /** Where an item begins. */
    int offset(int index) {
        return offsets[index];
    }

    @Override
    public T get(int index) {
        return item.apply(new ModuleReader(blob, name, offsets[index]));
    }

    @Override
    public int size() {
        return offsets.length;
    }
}
