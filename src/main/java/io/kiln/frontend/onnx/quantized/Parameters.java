// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.ElementQuantization;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** Reads scales and zero points from a node's inputs. */
final class Parameters {
    private Parameters() {}

    /** Whether scale and zero point are known at build time. */
    static boolean areConstant(NodeContext node, int scale, int zeroPoint) {
        return isConstant(node.arg(scale)) && (!node.has(zeroPoint) || isConstant(node.arg(zeroPoint)));
    }

    private static boolean isConstant(Arg value) {
        return value instanceof Constant;
    }

    /**
     * Constant parameters; a missing zero point is 0.
     *
     * @param scale index of the input with the scales
     * @param zeroPoint index of the input with the zero points
     * @param axis axis of several scales, from 0
     * @param type of the quantized elements
     */
    static ElementQuantization read(NodeContext node, int scale, int zeroPoint, int axis, ElementType type) {
        List<Float> scales = node.reals(scale, "scale");
        node.require(
                !scales.isEmpty() && scales.stream().allMatch(s -> s > 0 && Float.isFinite(s)),
                "its scales are " + scales,
                "finite numbers above 0");
        boolean isShifted = type == ElementType.UINT8 || type == ElementType.UINT16;
        int shift = isShifted ? 1 << (type.bits() - 1) : 0;
        List<Integer> zeroPoints = node.has(zeroPoint)
                ? node.integers(zeroPoint, "zero point").stream()
                        .map(z -> Math.toIntExact(z) - shift)
                        .toList()
                : Collections.nCopies(scales.size(), -shift);
        node.require(
                zeroPoints.size() == scales.size(),
                "it has " + scales.size() + " scales and " + zeroPoints.size() + " zero points",
                "as many of both");
        return new ElementQuantization(scales, zeroPoints, axis, type);
    }

    /** Parameters of the whole tensor, for an operator that takes no others. */
    static ElementQuantization readOne(NodeContext node, int scale, int zeroPoint, ElementType type) {
        ElementQuantization read = read(node, scale, zeroPoint, 0, type);
        node.require(read.isPerTensor(), "it has " + read.scales().size() + " scales", "one for the whole tensor");
        node.require(read.isOfBytes(), "its elements are " + type.text(), "int8 or uint8");
        return read;
    }

    /** Dimensions in which parameters of an axis broadcast over data. */
    static Optional<List<Integer>> dims(Shape parameters, Shape data, int axis) {
        if (parameters.elements() == 1) {
            return Optional.of(List.of());
        }
        if (parameters.rank() != 1 || parameters.dim(0) != data.dim(axis)) {
            return Optional.empty();
        }
        List<Integer> dims = new ArrayList<>(Collections.nCopies(data.rank() - axis, 1));
        dims.set(0, parameters.dim(0));
        return Optional.of(dims);
    }
}
