// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.base.ByteSize;
import io.kiln.base.Problems;
import io.kiln.frontend.CustomOperator;
import io.kiln.frontend.CustomOperators;
import io.kiln.frontend.TfliteRounding;
import io.kiln.frontend.onnx.OnnxIo;
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
 * @param reading how model files are read
 * @param codegens what generates code
 * @param memoryLimits the most bytes of a memory that the model may take, by the memory's name
 */
public record PipelineSpec(
        int fuseMaxDepth,
        List<String> disabledPasses,
        boolean dumpIr,
        ReadingSpec reading,
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
                ReadingSpec.STANDARD.with(customOperators),
                CodegenSpec.BOARD,
                new TreeMap<>());
    }

    /** A copy that reads model files in another way, with the custom operators that it has. */
    public PipelineSpec withReading(ReadingSpec other) {
        return new PipelineSpec(
                fuseMaxDepth, disabledPasses, dumpIr, other.with(customOperators()), codegens, memoryLimits);
    }

    /** A copy with other code generators. */
    public PipelineSpec withCodegens(CodegenSpec other) {
        return new PipelineSpec(fuseMaxDepth, disabledPasses, dumpIr, reading, other, memoryLimits);
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
        return new PipelineSpec(fuseMaxDepth, disabledPasses, dumpIr, reading, codegens, bytes);
    }

    /** A copy with another largest number of bindings in a fused group. */
    PipelineSpec withFuseMaxDepth(int depth) {
        return new PipelineSpec(depth, disabledPasses, dumpIr, reading, codegens, memoryLimits);
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
                fuseMaxDepth,
                disabledPasses,
                dumpIr,
                reading.with(CustomOperators.of(operators)),
                codegens,
                memoryLimits);
    }

    public PipelineSpec {
        disabledPasses = List.copyOf(disabledPasses);
        memoryLimits = Collections.unmodifiableSortedMap(new TreeMap<>(memoryLimits));
    }

    /** Operators computed by the user's C functions. */
    public CustomOperators customOperators() {
        return reading.customOperators();
    }

    /** Layout of the images at the border of an ONNX model. */
    public OnnxIo onnxIo() {
        return reading.onnxIo();
    }

    /** Whose arithmetic the operators of a TensorFlow Lite model have. */
    public TfliteRounding rounding() {
        return reading.rounding();
    }

    /**
     * The options in the compiler's form.
     *
     * @throws io.kiln.base.KilnException with all of their errors
     */
    public PassOptions options() {
        return PassOptions.of(fuseMaxDepth, disabledPasses);
    }
}
