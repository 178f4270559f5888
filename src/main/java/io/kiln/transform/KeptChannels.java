// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.IntStream;

/** Which channels of a function's values stay. */
final class KeptChannels {
    private final Map<Integer, TensorType> types;
    private final Map<Integer, int[]> byId;

    /**
     * The choice.
     *
     * @param types of all values
     * @param byId rising indices of what stays, for each value that loses channels
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

    /** Indices of what stays of a value. */
    int[] of(int id) {
        return isAll(id) ? IntStream.range(0, before(id)).toArray() : byId.get(id);
    }

    int[] removed(int id) {
        int[] left = of(id);
        return IntStream.range(0, before(id))
                .filter(c -> Arrays.binarySearch(left, c) < 0)
                .toArray();
    }

    /** Number of channels before any go. */
    int before(int id) {
        return ChannelFlow.channels(types.get(id).shape());
    }

    /** Type of the channels that stay. */
    TensorType type(int id) {
        TensorType type = types.get(id);
        Shape shape = type.shape();
        return isAll(id) ? type : new TensorType(Gather.of(shape, shape.rank() - 1, of(id).length), type.dtype());
    }
}
