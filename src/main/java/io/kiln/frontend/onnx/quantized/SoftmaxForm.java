// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.ElementQuantization;
import io.kiln.frontend.onnx.operator.IntegerForm;
import io.kiln.frontend.onnx.operator.IntegerForm.Deferred;
import io.kiln.frontend.onnx.operator.IntegerForm.Dequantized;
import io.kiln.frontend.onnx.operator.IntegerForm.Limits;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.arith.SingleFactor;
import io.kiln.ir.arith.SingleLogarithm;
import io.kiln.ir.op.OnnxForm;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.layer.OnnxLayers.OnnxSoftmax;
import io.kiln.ir.op.layer.Softmax;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.movement.Transpose;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A softmax of bytes or its logarithm, see {@link OnnxSoftmax}.
 *
 * @param data the input
 * @param isLog whether it is the logarithm
 */
record SoftmaxForm(Dequantized data, boolean isLog) {
    /**
     * The form of a node, if it is one of both.
     *
     * @param softmax the importer of {@code Softmax}, which places the axes of its logarithm as well
     */
    static Optional<IntegerForm> of(OnnxImporter softmax, NodeContext node) {
        boolean isLog = node.node().operator().equals("LogSoftmax");
        return QuantizedForms.bytes(node, 0)
                .filter(data -> isLog || node.node().operator().equals("Softmax"))
                .filter(data -> SingleFactor.isOrdinary(data.by().scale()))
                .map(data -> (Deferred) (to, limits) -> SingleFactor.isOrdinary(to.scale())
                        ? new SoftmaxForm(data, isLog).emit(softmax, node, to, limits)
                        : Optional.empty());
    }

    private Optional<Arg> emit(OnnxImporter importer, NodeContext node, ElementQuantization to, Limits limits) {
        OnnxValue bytes = new OnnxValue(data.integers(), ElementType.FLOAT);
        return QuantizedForms.bytes(
                        importer, node, Map.of(0, bytes), (op, args, origin) -> integers(node, to, op, args))
                .map(result -> QuantizedForms.limited(node, result, limits));
    }

    private Arg integers(NodeContext node, ElementQuantization to, Op op, List<Arg> args) {
        boolean isTooLong = isLog && node.type(args.get(0)).shape().dim(-1) > SingleLogarithm.MOST;
        if (op instanceof Softmax && !isTooLong) {
            return softmax(node, new OnnxSoftmax(OnnxForm.QDQ, isLog), args.get(0), data.by(), to);
        }
        if (op instanceof Transpose || op instanceof Reshape) {
            return node.emit(op, args);
        }
        throw new NoIntegers(op);
    }

    /** Emits the operator along the last axis. */
    static Arg softmax(NodeContext node, OnnxSoftmax op, Arg bytes, ElementQuantization from, ElementQuantization to) {
        return node.emit(
                op,
                bytes,
                Constant.scalar(from.scale()),
                Constant.scalar(from.zeroPoint()),
                Constant.scalar(to.scale()),
                Constant.scalar(to.zeroPoint()));
    }
}
