// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import io.kiln.base.Bytes;
import io.kiln.cycles.BlockSink;
import io.kiln.cycles.BlockSink.ExecutedBlock;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/** Counts what one run of a model executes, here or elsewhere. */
public interface RunCounter {
    /**
     * Counts instructions.
     *
     * @param image ELF file with its symbols, linked for the board
     * @param model name of the model
     * @param operators names of the operator functions
     * @param inputs the bytes of each input
     * @throws io.kiln.base.KilnException if the image lacks a function, or the emulator fails
     */
    InstructionCounts count(Path image, String model, List<String> operators, List<Bytes> inputs);

    /**
     * Counts how often each block of instructions is executed in the same run. Blocks of owner 0 are the entry point's and the main function's,
     * those of owner {@code i + 1} operator {@code i}'s, with what they call.
     *
     * @param counts of {@link #count} with the same arguments
     * @throws io.kiln.base.KilnException as {@link #count}
     */
    default List<ExecutedBlock> blocks(
            Path image, String model, List<String> operators, List<Bytes> inputs, InstructionCounts counts) {
        return blocks(image, model, operators, inputs, counts, BlockSink.NONE);
    }

    /**
     * As the other method, and tells of the blocks in the order of their execution.
     *
     * @param sink is told only if it {@link #hasOrder}
     */
    List<ExecutedBlock> blocks(
            Path image,
            String model,
            List<String> operators,
            List<Bytes> inputs,
            InstructionCounts counts,
            BlockSink sink);

    /** Whether the order of blocks is known. */
    boolean hasOrder();

    /**
     * Instructions that one run of a model executed.
     *
     * @param total from the first instruction of {@code tvmgen_<name>_run} to its return
     * @param operators from the first instruction of each operator function to its return, summed over its calls, callees
     *     included; in the order requested, 0 for functions that were not called
     * @param outputs the outputs of the run
     * @param stackUsed the deepest use of the image's stack in bytes, from its start to its end; empty if nothing measured it
     */
    record InstructionCounts(long total, Map<String, Long> operators, List<Bytes> outputs, OptionalLong stackUsed) {
        public InstructionCounts {
            operators = Collections.unmodifiableMap(new LinkedHashMap<>(operators));
            outputs = List.copyOf(outputs);
        }
    }
}
