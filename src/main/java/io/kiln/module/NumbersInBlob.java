// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import java.nio.ByteBuffer;
import java.util.AbstractList;
import java.util.RandomAccess;

/** Numbers of 64 bits, each below 2^31, where a blob has them: a list of objects would take more memory than the blob. */
final class NumbersInBlob extends AbstractList<Integer> implements RandomAccess {
    private final ByteBuffer numbers;

    /** @param numbers little-endian, whole numbers only */
    NumbersInBlob(ByteBuffer numbers) {
        this.numbers = numbers;
    }

    @Override
    public Integer get(int index) {
        return (int) numbers.getLong(index * Long.BYTES);
    }

    @Override
    public int size() {
        return numbers.limit() / Long.BYTES;
    }
}
