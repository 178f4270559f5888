// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.ElementQuantization;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.IntegerForm;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.element.QnnQuantize;
import io.kiln.ir.op.element.Unary;
import java.util.Optional;

/**
 * {@code QuantizeLinear}: {@code saturate(round(x / scale) + zeroPoint)}, halves to even. Its input is computed in integers where possible.
 */
final class QuantizeLinearImporter implements OnnxImporter {
    @Override
    public void emit(NodeContext node) {
        node.require(node.attributes().whole("block_size", 0) == 0, "it has a scale for each block", "no block_size");
        ElementType type = node.has(2)
                ? node.element(2)
                : ElementType.ofCode((int) node.attributes().whole("output_dtype", 0))
                        .filter(t -> t != ElementType.UNDEFINED)
                        .orElse(ElementType.UINT8);
        int rank = node.shape(0).rank();
        int axis = rank == 0 ? 0 : node.axis(node.attributes().whole("axis", rank == 1 ? 0 : 1), rank);
        boolean areBytes = type == ElementType.INT8 || type == ElementType.UINT8;
        if (areBytes && node.element(0).isFloat() && Parameters.areConstant(node, 1, 2)) {
            ElementQuantization to = Parameters.read(node, 1, 2, axis, type);
            if (to.isPerTensor()) {
                node.finish(0, QuantizedBytes.value(node, bytes(node, node.input(0), to), type));
                return;
            }
        }
        node.require(areBytes || type == ElementType.INT16, "its result is " + type.text(), "int8, uint8 or int16");
        node.finish(0, computed(node, type, axis));
    }

    /** The bytes of a value, computed in integers if possible. */
    static Arg bytes(NodeContext node, OnnxValue value, ElementQuantization to) {
        return value.form()
                .flatMap(form -> QuantizedForms.quantized(node, form, to, IntegerForm.Limits.NONE))
                .orElseGet(() -> node.emit(
                        new QnnQuantize(DType.INT8, Rounding.ONNX),
                        value.arg(),
                        Constant.scalar(to.scale()),
                        Constant.scalar(to.zeroPoint())));
    }

    /** The definition, for several scales or computed ones: rounded first, then converted. */
    private static OnnxValue computed(NodeContext node, ElementType type, int axis) {
        Expressions e = new Expressions(node);
        Arg real = e.cast(node.arg(0), DType.FLOAT32);
        Arg steps = e.unary(Unary.Kind.ROUND, e.divide(real, DequantizeLinearImporter.spread(node, e, 1, axis)));
        if (node.has(2)) {
            steps = e.add(steps, e.cast(DequantizeLinearImporter.spread(node, e, 2, axis), DType.FLOAT32));
        }
        boolean isUnsigned = type == ElementType.UINT8;
        Arg integers = node.emit(
                new QnnQuantize(type == ElementType.INT16 ? DType.INT16 : DType.INT8, Rounding.ONNX),
                steps,
                Constant.scalar(1f),
                Constant.scalar(isUnsigned ? Byte.MIN_VALUE : 0));
        return type == ElementType.INT16
                ? new OnnxValue(integers, type, Optional.empty())
                : QuantizedBytes.value(node, integers, type);
    }
}
