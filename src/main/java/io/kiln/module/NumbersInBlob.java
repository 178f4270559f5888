// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import io.kiln.base.Bytes;
import io.kiln.base.LazyList;
import java.util.Objects;

/** A list of numbers that stay in the blob, where each takes 64 bits and is below 2^31. */
final class NumbersInBlob extends LazyList<Integer> {
    private final Bytes blob;
    private final int start;
    private final int count;

    /**
     * @param start offset of the first number
     * @param count how many there are
     */
    NumbersInBlob(Bytes blob, int start, int count) {
        this.blob = blob;
        this.start = start;
        this.count = count;
    }

    /** The number at an index, without an object. */
    int at(int index) {
        int at = start + Objects.checkIndex(index, count) * Long.BYTES;
        int number = 0;
        for (int i = Integer.BYTES - 1; i >= 0; i--) {
            number = (number << Byte.SIZE) | (blob.get(at + i) & 0xFF);
        }
        return number;
    }

    /** The numbers from one index to another. */
    NumbersInBlob part(int from, int to) {
        Objects.checkFromToIndex(from, to, count);
        return new NumbersInBlob(blob, start + from * Long.BYTES, to - from);
    }

    @Override
    public Integer get(int index) {
        return at(index);
    }

    @Override
    public int size() {
        return count;
    }
}
