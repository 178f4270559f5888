// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Micro-kernels in Java, written from what they are to compute and not from their C text. */
final class KernelTwins {
    /** Elements that a pointer argument points to. */
    interface Memory {
        long get(int index);

        void put(int index, long value);
    }

    /** One family of kernels. */
    interface Twin {
        /** Whether it answers for a kernel of this name. */
        boolean knows(String kernel);

        void run(String kernel, List<Memory> pointers, List<Long> scalars);
    }

    private static final List<Twin> ALL = List.of(
            new DspTwins(),
            new DspDepthwiseTwin(),
            new DspWinogradTwin(),
            new MveTwins(),
            new BlockedTwins(),
            new WideTwins());

    /** Loops call the same few kernels over and over. */
    private final Map<String, Twin> byName = new HashMap<>();

    void run(String kernel, List<Memory> pointers, List<Long> scalars) {
        byName.computeIfAbsent(kernel, KernelTwins::of).run(kernel, pointers, scalars);
    }

    private static Twin of(String kernel) {
        List<Twin> twins = new ArrayList<>(ALL);
        twins.removeIf(t -> !t.knows(kernel));
        if (twins.size() != 1) {
            throw new IllegalArgumentException(twins.size() + " twins of kernel " + kernel);
        }
        return twins.get(0);
    }
}
