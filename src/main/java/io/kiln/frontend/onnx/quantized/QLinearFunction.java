// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.IntegerForm;
import io.kiln.frontend.onnx.operator.IntegerForm.Dequantized;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.frontend.onnx.operator.Quantization;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.element.QnnQuantize;
import io.kiln.ir.op.element.Unary;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An operator of ONNX Runtime that dequantizes, computes and quantizes: X, its scale and zero point, those of the result.
 *
 * @param operator name of the operator in between
 * @param importer its importer
 * @param isRoundedLast whether the zero point is added before rounding, as pools do (contrib_ops/cpu/quantization/qlinear_pool.cc)
 */
record QLinearFunction(String operator, OnnxImporter importer, boolean isRoundedLast) implements OnnxImporter {
    @Override
    public void emit(NodeContext node) {
        node.require(
                !node.attributes().truth("channels_last", false),
                "its channels are the last dimension",
                "channels_last 0");
        ElementType type = node.element(0);
        Quantization from = Parameters.readOne(node, 1, 2, type);
        Quantization to = Parameters.readOne(node, 3, 4, type);
        Dequantized data = new Dequantized(SignedBytes.of(node, node.input(0)), from);
        NodeContext shadow =
                node.as(operator, List.of(0)).shadow(Map.of(0, SignedBytes.dequantized(node, data)), Optional.empty());
        QuantizedNodes.emit(importer, shadow);
        OnnxValue result = shadow.output(0).orElseThrow(() -> node.failure("it computes nothing", "one output"));
        Arg bytes = isRoundedLast ? roundedLast(node, result, to) : QuantizeImporter.bytes(node, result, to);
        node.finish(0, SignedBytes.value(node, bytes, type));
    }

    private static Arg roundedLast(NodeContext node, OnnxValue result, Quantization to) {
        Optional<Arg> integers =
                result.form().flatMap(form -> IntegerForms.quantized(node, form, to, IntegerForm.Limits.NONE));
        return integers.orElseGet(() -> {
            Expressions e = new Expressions(node);
            int sign = to.type() == ElementType.UINT8 ? Byte.MIN_VALUE : 0;
            Arg steps = e.divide(result.arg(), e.number(to.scale(), DType.FLOAT32));
            Arg shifted = e.add(steps, (double) to.zeroPoint() - sign);
            return node.emit(
                    new QnnQuantize(DType.INT8, Rounding.ONNX),
                    e.unary(Unary.Kind.ROUND, shifted),
                    Constant.scalar(1f),
                    Constant.scalar(sign));
        });
    }
}
