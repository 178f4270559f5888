// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.base.ByteSize;
import io.kiln.base.Failure;
import io.kiln.base.Problems;
import io.kiln.compile.CompileOptions;
import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The settings by which models become C.
 *
 * @param options what the compiler takes as it is
 * @param codegens what generates code
 * @param memoryLimits the most bytes of a memory that the models may take, by the memory's name
 * @param quantize how float models are quantized first
 * @param records tuning records that choose schedules
 * @param dumpIr whether the IR is written after each pass
 * @param fit the memory that an image may take
 */
public record CompilerSpec(
        CompileOptions options,
        CodegenSpec codegens,
        SortedMap<String, Long> memoryLimits,
        QuantizeSpec quantize,
        RecordsSpec records,
        boolean dumpIr,
        FitSpec fit) {
    /** The usual way: the board's target and the defaults of the compiler. */
    public static final CompilerSpec DEFAULT = new CompilerSpec(
            CompileOptions.DEFAULT,
            CodegenSpec.BOARD,
            Collections.emptySortedMap(),
            QuantizeSpec.NONE,
            RecordsSpec.USUAL,
            false,
            FitSpec.NONE);

    public CompilerSpec {
        memoryLimits = Collections.unmodifiableSortedMap(new TreeMap<>(memoryLimits));
    }

    /**
     * Reads limits of memories.
     *
     * @param limits sizes such as {@code 96K} by name of the memory
     * @throws io.kiln.base.KilnException with every text that is not a size
     */
    public static SortedMap<String, Long> memoryLimits(Map<String, String> limits) {
        SortedMap<String, Long> bytes = new TreeMap<>();
        Problems problems = new Problems(Failure.CONFIG);
        limits.forEach((name, text) -> ByteSize.parse(text.strip())
                .ifPresentOrElse(
                        size -> bytes.put(name, size),
                        () -> problems.add(
                                "kiln.memory." + name + " is '" + text + "'",
                                "",
                                "bytes, or a number with K, M or G, such as 96K",
                                "Correct kiln.memory." + name)));
        problems.throwIfAny();
        return bytes;
    }

    public CompilerSpec with(CompileOptions other) {
        return new CompilerSpec(other, codegens, memoryLimits, quantize, records, dumpIr, fit);
    }

    public CompilerSpec with(RecordsSpec other) {
        return new CompilerSpec(options, codegens, memoryLimits, quantize, other, dumpIr, fit);
    }
}
