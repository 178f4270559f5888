// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import io.kiln.cycles.BlockSink;
import io.kiln.cycles.BlockSink.ExecutedBlock;
import io.kiln.device.emulator.FunctionCounter.Calls;
import java.nio.file.Path;
import java.util.List;

/** Counts what functions execute that a program calls one after another, here or elsewhere. */
public interface CallsCounter {
    /** Counts the instructions of functions, as {@link FunctionCounter#count} does. */
    Calls count(Path image, List<String> functions, String told);

    /**
     * Counts the executed blocks of functions, as {@link FunctionTrace#blocks} does.
     *
     * @param sink is told of each block in order if that {@linkplain #hasOrder is known}
     */
    List<ExecutedBlock> blocks(Path image, List<String> functions, List<Long> instructions, String end, BlockSink sink);

    /** Whether the order of the blocks is known. */
    boolean hasOrder();

    /** Counts in an emulator of this computer. */
    static CallsCounter in(Emulator emulator) {
        return new CallsCounter() {
            @Override
            public Calls count(Path image, List<String> functions, String told) {
                return new FunctionCounter(emulator).count(image, functions, told);
            }

            @Override
            public List<ExecutedBlock> blocks(
                    Path image, List<String> functions, List<Long> instructions, String end, BlockSink sink) {
                return new FunctionTrace(emulator).blocks(image, functions, instructions, end, sink);
            }

            @Override
            public boolean hasOrder() {
                return true;
            }
        };
    }
}
