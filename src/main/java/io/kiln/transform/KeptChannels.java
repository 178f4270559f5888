// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.IntStream;

/** The kept channels of a function's values. */
final class KeptChannels {
    private final Map<Integer, TensorType> types;
    private final Map<Integer, int[]> byId;

    /**
     * A selection.
     *
     * @param types of all values
     * @param byId ascending indices of kept channels, for each value that loses channels
     */
    KeptChannels(Map<Integer, TensorType> types, Map<Integer, int[]> byId) {
        this.types = types;
        this.byId = byId;
    }

    /** Whether no value loses channels. */
    boolean isAll() {
        return byId.isEmpty();
    }

    boolean isAll(int id) {
        return !byId.containsKey(id);
    }

    /** Indices of a value's kept channels. */
    int[] of(int id) {
        return isAll(id) ? IntStream.range(0, before(id)).toArray() : byId.get(id);
    }

    int[] removed(int id) {
        int[] left = of(id);
        return IntStream.range(0, before(id))
                .filter(c -> Arrays.binarySearch(left, c) < 0)
                .toArray();
    }

    /** Number of channels before the removal. */
    int before(int id) {
        return ChannelFlow.channels(types.get(id).shape());
    }

    /** Type with the kept channels. */
    TensorType type(int id) {
        TensorType type = types.get(id);
        Shape shape = type.shape();
        return isAll(id) ? type : new TensorType(Gather.of(shape, shape.rank() - 1, of(id).length), type.dtype());
    }
}
