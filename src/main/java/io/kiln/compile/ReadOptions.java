// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.base.ByteSize;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.frontend.CustomOperator;
import io.kiln.frontend.CustomOperators;
import io.kiln.frontend.ReadLimits;
import io.kiln.frontend.TfliteRounding;
import io.kiln.frontend.onnx.OnnxIo;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * How model files are read.
 *
 * @param customOperators operators computed by the user's C functions; Relay text names functions itself
 * @param onnxIo layout of the images at the border of an ONNX model
 * @param rounding whose arithmetic the operators of a TensorFlow Lite model have
 * @param limits what may be read for a model
 */
public record ReadOptions(CustomOperators customOperators, OnnxIo onnxIo, TfliteRounding rounding, ReadLimits limits) {
    /** No custom operators, the model's own layout, and the arithmetic of TensorFlow Lite Micro. */
    public static final ReadOptions DEFAULT =
            new ReadOptions(CustomOperators.NONE, OnnxIo.MODEL, TfliteRounding.MICRO, ReadLimits.STANDARD);

    /**
     * From parameters, without custom operators and for no board.
     *
     * @param onnxIo {@code kiln.onnx.io}
     * @param rounding {@code kiln.tflite.rounding}
     * @param limit {@code kiln.limit.model}; empty if it is not set
     * @param onnxData {@code kiln.onnx.data}
     * @throws KilnException for a value that is none
     */
    public static ReadOptions parse(String onnxIo, String rounding, Optional<String> limit, Optional<Path> onnxData) {
        return new ReadOptions(
                CustomOperators.NONE,
                OnnxIo.parse(onnxIo),
                TfliteRounding.parse(rounding),
                new ReadLimits(limit.map(ReadOptions::bytes).orElse(OptionalLong.empty()), 0, onnxData));
    }

    private static OptionalLong bytes(String limit) {
        OptionalLong size = ByteSize.parse(limit.strip());
        if (size.orElse(0) < 1) {
            throw Failure.CONFIG.exception(
                    "kiln.limit.model is '" + limit + "'",
                    "",
                    "bytes, or a number with K, M or G, such as 64M",
                    "Correct kiln.limit.model");
        }
        return size;
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
     * The same with custom operators from the configuration.
     *
     * @param functions one by one
     * @param more several in one line, as {@link CustomOperators#parse} reads it; blank for none
     * @throws KilnException with all of their errors
     */
    public ReadOptions with(List<UserFunction> functions, String more) {
        List<CustomOperator> operators = new ArrayList<>();
        functions.forEach(each -> operators.add(each.operator()));
        operators.addAll(CustomOperators.parse(more));
        return with(CustomOperators.of(operators));
    }

    public ReadOptions with(CustomOperators other) {
        return new ReadOptions(other, onnxIo, rounding, limits);
    }

    /** The same with another arithmetic. */
    public ReadOptions with(TfliteRounding other) {
        return new ReadOptions(customOperators, onnxIo, other, limits);
    }

    /**
     * The same for a board.
     *
     * @param boardBytes bytes of the memories in which the model must fit
     */
    public ReadOptions within(long boardBytes) {
        return new ReadOptions(
                customOperators, onnxIo, rounding, new ReadLimits(limits.given(), boardBytes, limits.dataFolder()));
    }
}
