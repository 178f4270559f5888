// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.write;

import io.kiln.frontend.tflite.schema.BuiltinOperator;
import io.kiln.frontend.tflite.schema.SchemaEnums.FusedActivation;
import io.kiln.frontend.tflite.write.Emission.Options;
import io.kiln.ir.Constant;
import io.kiln.ir.op.element.Clip;
import io.kiln.quantize.plan.Precision;
import io.kiln.quantize.plan.QuantizedConstants;
import java.util.List;
import java.util.Optional;

/** Clamps as fused activations or as operators of their own. */
final class Clamps {
    private Clamps() {}

    /** The fused activation of a node's clamp; NONE for any other clamp, which the range of an int8 result already implies. */
    static int fused(Emission node) {
        return node.clip()
                .flatMap(Clamps::activation)
                .orElse(FusedActivation.NONE)
                .code();
    }

    private static Optional<FusedActivation> activation(Clip clip) {
        if (clip.min() == 0) {
            return clip.max() == Float.MAX_VALUE
                    ? Optional.of(FusedActivation.RELU)
                    : clip.max() == 6 ? Optional.of(FusedActivation.RELU6) : Optional.empty();
        }
        return clip.min() == -1 && clip.max() == 1 ? Optional.of(FusedActivation.RELU_N1_TO_1) : Optional.empty();
    }

    /** The node as it is to be written: without its clamp if no fused activation computes that; {@link #after} then writes the clamp. */
    static Emission before(Emission node) {
        if (!isSeparate(node)) {
            return node;
        }
        int unclamped = node.tensor("_unclamped");
        return new Emission(node.planned(), node.graph(), unclamped);
    }

    static void after(Emission node, Emission before) {
        if (isSeparate(node)) {
            limit(node, before.output(), node.clip().orElseThrow());
        }
    }

    private static boolean isSeparate(Emission node) {
        Optional<Clip> clip = node.clip();
        return node.planned().precision() != Precision.INT8
                && clip.isPresent()
                && clip.flatMap(Clamps::activation).isEmpty();
    }

    /**
     * A clamp as operators. One of integers rescales the data first; RELU of int8 does both. RELU6 of TensorFlow Lite Micro does not rescale.
     */
    static boolean write(Emission node, Clip clip) {
        boolean isRelu = clip.min() == 0 && node.planned().precision() != Precision.INT16;
        if (isRelu && !hasGreater(node, clip)) {
            node.write(BuiltinOperator.RELU, node.version(1, 2, 2));
        } else if (node.isFloat() && activation(clip).equals(Optional.of(FusedActivation.RELU6))) {
            node.write(BuiltinOperator.RELU6, 1);
        } else {
            limit(node, rescaled(node, isRelu), clip);
        }
        return true;
    }

    /** The data in the result's format. */
    private static int rescaled(Emission node, boolean isRelu) {
        GraphWriter graph = node.graph();
        int data = node.data(0);
        if (graph.format(data).equals(node.format())) {
            return data;
        }
        int rescaled = node.tensor("_rescaled");
        if (isRelu) {
            graph.operator(BuiltinOperator.RELU, 2, List.of(data), rescaled, Options.NONE);
        } else {
            graph.convert(data, rescaled);
        }
        return rescaled;
    }

    /** The limits that the range of the data's type does not imply; the greatest one if it implies both. */
    private static void limit(Emission node, int data, Clip clip) {
        GraphWriter graph = node.graph();
        int version = node.version(1, 2, 4);
        int raised = data;
        if (hasLess(node, clip)) {
            boolean isLast = !hasGreater(node, clip);
            raised = isLast ? node.output() : node.tensor("_raised");
            graph.operator(
                    BuiltinOperator.MAXIMUM, version, List.of(data, limit(node, clip.min())), raised, Options.NONE);
        }
        if (raised != node.output()) {
            node.write(BuiltinOperator.MINIMUM, version, List.of(raised, limit(node, clip.max())), Options.NONE);
        }
    }

    /** Whether the type of a result holds greater values than a clamp lets through. */
    private static boolean hasGreater(Emission node, Clip clip) {
        return node.format()
                .quantization()
                .map(q -> integer(node, clip.max()) < node.format().dtype().max())
                .orElse(clip.max() < Float.MAX_VALUE);
    }

    private static boolean hasLess(Emission node, Clip clip) {
        return node.format()
                .quantization()
                .map(q -> integer(node, clip.min()) > node.format().dtype().min())
                .orElse(clip.min() > -Float.MAX_VALUE);
    }

    private static long integer(Emission node, double limit) {
        return QuantizedConstants.of(
                        Constant.vector((float) limit),
                        node.format().dtype(),
                        node.format().quantization().orElseThrow())
                .integer(0);
    }

    private static int limit(Emission node, double limit) {
        return node.graph().value(Constant.vector((float) limit), node.format());
    }
}
