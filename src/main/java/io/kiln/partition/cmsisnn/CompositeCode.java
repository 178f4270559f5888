// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition.cmsisnn;

import io.kiln.ir.op.element.Clip;
import io.kiln.partition.ExternalCall;
import io.kiln.partition.ExternalFunction;
import io.kiln.partition.Match;
import java.util.List;

/**
 * The C that computes a composite by a function of CMSIS-NN.
 *
 * @param call what its function takes
 * @param declarations of the arguments of CMSIS-NN's function, in C
 * @param function the function of CMSIS-NN
 * @param arguments in C
 * @param status whether the function returns one
 */
record CompositeCode(
        ExternalCall call, List<String> declarations, String function, List<String> arguments, boolean status) {
    CompositeCode {
        declarations = List.copyOf(declarations);
        arguments = List.copyOf(arguments);
    }

    /** A composite whose function returns a status. */
    CompositeCode(ExternalCall call, List<String> declarations, String function, List<String> arguments) {
        this(call, declarations, function, arguments, true);
    }

    static CompositeCode of(ExternalFunction function, CmsisNnOptions options) {
        return switch (function.composite().name()) {
            case CmsisNnPatterns.CONV2D -> new ConvolutionCode(function, options).code();
            case CmsisNnPatterns.FULLY_CONNECTED -> new DenseCode(function, options).code();
            case CmsisNnPatterns.AVG_POOL2D, CmsisNnPatterns.MAX_POOL2D -> PoolCode.of(function, options);
            case CmsisNnPatterns.ADD, CmsisNnPatterns.MUL -> new PairCode(function).code();
            case CmsisNnPatterns.SOFTMAX -> SoftmaxCode.of(function);
            default ->
                throw new IllegalArgumentException(
                        "no composite " + function.composite().name());
        };
    }

    /** {@code s8} or {@code s16}. */
    static String suffix(Match match) {
        return "s" + 8 * match.result().dtype().bytes();
    }

    /** Smallest value of the result. */
    static long least(Match match) {
        return match.find(Clip.class)
                .map(clip -> Math.round(((Clip) clip.op()).min()))
                .orElse(match.result().dtype().min());
    }

    /** Largest value of the result. */
    static long most(Match match) {
        return match.find(Clip.class)
                .map(clip -> Math.round(((Clip) clip.op()).max()))
                .orElse(match.result().dtype().max());
    }

    /** The initializer of {@code activation}. */
    static String activation(Match match) {
        return ".activation = {.min = " + least(match) + ", .max = " + most(match) + "}";
    }

    static String dims(String name, int n, int h, int w, int c) {
        return "const cmsis_nn_dims " + name + " = {.n = " + n + ", .h = " + h + ", .w = " + w + ", .c = " + c + "};";
    }

    static String context(long bytes) {
        return "const cmsis_nn_context context = {.buf = " + (bytes == 0 ? "NULL" : "context_") + ", .size = " + bytes
                + "};";
    }
}
