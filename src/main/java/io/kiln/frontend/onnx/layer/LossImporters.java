// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.layer;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.frontend.onnx.reduce.Halving;
import io.kiln.ir.Arg;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.movement.Take;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Classification losses, as sums of values that a model computes anyway. */
final class LossImporters {
    static final List<OnnxRegistration> ALL = List.of(
            onnx("NegativeLogLikelihoodLoss", LossImporters::likelihood),
            onnx("SoftmaxCrossEntropyLoss", LossImporters::crossEntropy));

    private LossImporters() {}

    private static void likelihood(NodeContext node) {
        Expressions e = new Expressions(node);
        node.finish(loss(e, node, node.arg(0)));
    }

    private static void crossEntropy(NodeContext node) {
        Expressions e = new Expressions(node);
        Arg data = node.arg(0);
        List<Integer> classes = List.of(1);
        Arg lowered = e.subtract(data, e.reduce(Reduce.Kind.MAX, data, classes));
        Arg sum = e.reduce(Reduce.Kind.SUM, e.unary(Unary.Kind.EXP, lowered), classes);
        Arg logarithms = e.subtract(lowered, e.unary(Unary.Kind.LOG, sum));
        node.finish(0, loss(e, node, logarithms));
        node.finish(1, logarithms);
    }

    /** The weighted negative element of each target's class; targets of one class may count nothing. */
    private static Arg loss(Expressions e, NodeContext node, Arg logarithms) {
        Shape shape = e.shape(logarithms);
        Shape targets = node.shape(1);
        int places = Math.toIntExact(targets.elements());
        Arg target = e.reshape(e.cast(node.arg(1), DType.INT32), List.of(places));
        Optional<Arg> isIgnored = node.attributes()
                .whole("ignore_index")
                .map(ignored -> e.binary(Binary.Kind.EQUAL, target, e.number(ignored, DType.INT32)));
        Arg zero = e.number(0, DType.INT32);
        Arg index = isIgnored.map(mask -> e.where(mask, zero, target)).orElse(target);
        List<Integer> axes = new ArrayList<>(List.of(0));
        IntStream.range(2, shape.rank()).forEach(axes::add);
        axes.add(1);
        Arg rows = e.reshape(e.transpose(logarithms, axes), List.of(places, shape.dim(1)));
        Arg picked = node.emit(new Take(1, 1), rows, e.reshape(index, List.of(places, 1)));
        Arg loss = e.unary(Unary.Kind.NEGATIVE, e.reshape(picked, List.of(places)));
        Arg one = e.number(1, DType.FLOAT32);
        Arg weights = node.has(2) ? e.take(node.arg(2), index, 0) : e.broadcast(one, Shape.of(places));
        if (isIgnored.isPresent()) {
            weights = e.where(isIgnored.orElseThrow(), e.number(0, DType.FLOAT32), weights);
        }
        Arg weighted = e.multiply(loss, weights);
        Arg total = total(e, e.reshape(weighted, targets));
        return switch (node.attributes().text("reduction", "mean")) {
            case "none" -> e.reshape(weighted, targets);
            case "sum" -> total;
            case "mean" -> e.divide(total, total(e, e.reshape(weights, targets)));
            default -> throw node.failure("its reduction is unknown", "none, sum or mean");
        };
    }

    private static Arg total(Expressions e, Arg data) {
        List<Integer> axes = IntStream.range(0, e.shape(data).rank()).boxed().toList();
        return e.reshape(Halving.sum(e, data, axes), List.of());
    }
}
