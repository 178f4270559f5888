// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.base.ByteSize;
import io.kiln.base.Problems;
import io.kiln.base.incremental.Fingerprint;
import io.kiln.frontend.CustomOperator;
import io.kiln.frontend.CustomOperators;
import io.kiln.transform.PassOptions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The user's changes to the compiler: its passes and custom operators.
 *
 * @param fuseMaxDepth largest number of bindings in a fused group
 * @param disabledPasses names of skipped passes
 * @param dumpIr whether the IR is written after each pass
 * @param customOperators operators computed by the user's C functions
 * @param reading how model files are read
 * @param codegens what generates code
 * @param memoryLimits the most bytes of a memory that the model may take, by the memory's name
 */
public record PipelineSpec(
        int fuseMaxDepth,
        List<String> disabledPasses,
        boolean dumpIr,
        CustomOperators customOperators,
        ModelReading reading,
        CodegenSpec codegens,
        SortedMap<String, Long> memoryLimits) {
    /** All passes, nothing dumped. */
    public static final PipelineSpec STANDARD =
            new PipelineSpec(PassOptions.DEFAULT_MAX_FUSION_DEPTH, List.of(), false);

    /** Passes without custom operators. */
    public PipelineSpec(int fuseMaxDepth, List<String> disabledPasses, boolean dumpIr) {
        this(fuseMaxDepth, disabledPasses, dumpIr, CustomOperators.NONE);
    }

    /** Passes with custom operators. */
    public PipelineSpec(
            int fuseMaxDepth, List<String> disabledPasses, boolean dumpIr, CustomOperators customOperators) {
        this(
                fuseMaxDepth,
                disabledPasses,
                dumpIr,
                customOperators,
                ModelReading.STANDARD,
                CodegenSpec.BOARD,
                new TreeMap<>());
    }

    /** A copy that reads model files in another way. */
    public PipelineSpec withReading(ModelReading other) {
        return new PipelineSpec(fuseMaxDepth, disabledPasses, dumpIr, customOperators, other, codegens, memoryLimits);
    }

    /** A copy with other code generators. */
    public PipelineSpec withCodegens(CodegenSpec other) {
        return new PipelineSpec(fuseMaxDepth, disabledPasses, dumpIr, customOperators, reading, other, memoryLimits);
    }

    /**
     * A copy with limits of memories.
     *
     * @param limits sizes such as {@code 96K} by name of the memory
     * @throws io.kiln.base.KilnException with every text that is not a size
     */
    public PipelineSpec withMemory(Map<String, String> limits) {
        SortedMap<String, Long> bytes = new TreeMap<>();
        Problems problems = new Problems();
        limits.forEach((name, text) -> ByteSize.parse(text.strip())
                .ifPresentOrElse(
                        size -> bytes.put(name, size),
                        () -> problems.add(
                                "kiln.memory." + name + " is '" + text + "'",
                                "",
                                "bytes, or a number with K, M or G, such as 96K",
                                "Correct kiln.memory." + name)));
        problems.throwIfAny();
        return new PipelineSpec(fuseMaxDepth, disabledPasses, dumpIr, customOperators, reading, codegens, bytes);
    }

    /** A copy with another largest number of bindings in a fused group. */
    PipelineSpec withFuseMaxDepth(int depth) {
        return new PipelineSpec(depth, disabledPasses, dumpIr, customOperators, reading, codegens, memoryLimits);
    }

    /**
     * A C function that computes a custom operator, as configured; see {@link CustomOperator}.
     *
     * @param quantization whether the function gets its tensors' scales and zero points
     * @param options whether the function gets the bytes of the operator's options
     * @param reference C file whose function of the same name is compared with; empty for none
     */
    public record UserFunction(
            String code,
            String function,
            String header,
            String shape,
            boolean quantization,
            boolean options,
            String reference) {
        private CustomOperator operator() {
            List<String> passed = new ArrayList<>();
            if (quantization) {
                passed.add(CustomOperator.QUANTIZATION);
            }
            if (options) {
                passed.add(CustomOperator.OPTIONS);
            }
            return new CustomOperator(code, function, header, shape, String.join(",", passed), reference);
        }
    }

    /**
     * A copy with custom operators from the configuration.
     *
     * @param functions one by one
     * @param more several in one line, as {@link CustomOperators#parse} reads it; blank for none
     * @throws io.kiln.base.KilnException with all of their errors
     */
    public PipelineSpec withFunctions(List<UserFunction> functions, String more) {
        List<CustomOperator> operators = new ArrayList<>();
        functions.forEach(each -> operators.add(each.operator()));
        operators.addAll(CustomOperators.parse(more));
        return new PipelineSpec(
                fuseMaxDepth, disabledPasses, dumpIr, CustomOperators.of(operators), reading, codegens, memoryLimits);
    }

    public PipelineSpec {
        disabledPasses = List.copyOf(disabledPasses);
        memoryLimits = Collections.unmodifiableSortedMap(new TreeMap<>(memoryLimits));
    }

    /**
     * The options in the compiler's form.
     *
     * @throws io.kiln.base.KilnException with all of their errors
     */
    public PassOptions options() {
        return PassOptions.of(fuseMaxDepth, disabledPasses);
    }

    /** Adds everything that generated files depend on. */
    public Fingerprint addTo(Fingerprint fingerprint) {
        codegens.addTo(fingerprint);
        return fingerprint
                .setting("fuse.maxDepth", fuseMaxDepth)
                .setting(
                        "disabledPasses",
                        disabledPasses.stream().sorted().distinct().toList())
                .setting("dumpIr", dumpIr)
                .setting("customOperators", customOperators.text())
                .setting("onnx.io", reading.onnxIo().text())
                .setting("memory", memoryLimits.toString());
    }
}
