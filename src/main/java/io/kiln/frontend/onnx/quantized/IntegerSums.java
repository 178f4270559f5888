// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.frontend.onnx.operator.Emitter;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Origin;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.layer.Conv2d;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.op.layer.QnnDense;
import io.kiln.ir.op.layer.TflBatchMatmul;
import io.kiln.ir.op.movement.Pad;
import java.util.ArrayList;
import java.util.List;

/**
 * Turns the operators of a float layer into those that sum products of integers, as its importer emits them. The sums stay as they are.
 *
 * @param node the layer
 * @param dataZero number subtracted from each element of the data
 * @param weightZero number subtracted from each element of the weight
 */
record IntegerSums(NodeContext node, int dataZero, int weightZero) implements Emitter {
    @Override
    public Arg emit(Op op, List<Arg> args, Origin origin) {
        if (op instanceof Conv2d conv) {
            return sums(new QnnConv2d(conv.window(), conv.groups(), conv.channels(), conv.kernelLayout()), args);
        }
        if (op instanceof Dense dense) {
            return sums(new QnnDense(dense.units()), args);
        }
        if (op instanceof TflBatchMatmul) {
            return node.emit(op, args.get(0), args.get(1), Constant.scalar(dataZero), Constant.scalar(weightZero));
        }
        if (op instanceof Pad) {
            Expressions e = new Expressions(node);
            return node.emit(op, args.get(0), e.number(dataZero, e.dtype(args.get(0))));
        }
        if (IntegerLayer.isMovement(op) || op instanceof Binary) {
            return node.emit(op, args);
        }
        throw new NoIntegers(op);
    }

    private Arg sums(Op op, List<Arg> args) {
        List<Arg> all = new ArrayList<>(args);
        all.add(Constant.scalar(dataZero));
        all.add(Constant.scalar(weightZero));
        all.add(Constant.scalar(1f));
        all.add(Constant.scalar(1f));
        return node.emit(op, all);
    }
}
