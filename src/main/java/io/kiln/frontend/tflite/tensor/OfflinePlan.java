// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.tensor;

import io.kiln.frontend.tflite.flatbuffer.FlatVector;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The memory plan that Vela leaves in its files as metadata {@code OfflineMemoryAllocation}: version, number of subgraphs, number of tensors, then
 * the first byte of each tensor of the first subgraph in the arena, -1 for constants.
 */
public final class OfflinePlan {
    private static final String NAME = "OfflineMemoryAllocation";
    private static final int HEAD = 3;

    private final Optional<FlatVector> plan;

    private OfflinePlan(Optional<FlatVector> plan) {
        this.plan = plan;
    }

    /** The plan of a file, if it has one of a version that is known. */
    public static OfflinePlan of(TensorBuffers buffers) {
        return new OfflinePlan(buffers.metadata(NAME)
                .map(bytes ->
                        new FlatVector(bytes.buffer(), bytes.start(), bytes.size() / Integer.BYTES, Integer.BYTES))
                .filter(words -> words.size() >= HEAD && words.i32(0) == 0));
    }

    /** The first byte of a tensor, if the plan has a place for it. */
    public OptionalInt offset(int tensor) {
        return plan.filter(words -> tensor < words.i32(2) && HEAD + tensor < words.size())
                .map(words -> words.i32(HEAD + tensor))
                .filter(offset -> offset >= 0)
                .map(OptionalInt::of)
                .orElse(OptionalInt.empty());
    }
}
