// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.base.DType;
import io.kiln.frontend.Formulas;
import io.kiln.frontend.SignChange;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.NodeContext.Emitter;
import io.kiln.frontend.onnx.operator.OnnxRegistration.OnnxImporter;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.frontend.onnx.quantized.QuantizedForms.NoIntegers;
import io.kiln.frontend.onnx.quantized.SumForm.IntegerLayer;
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
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * {@code ConvInteger} and {@code MatMulInteger}: data, weight, zero point of the data, zero points of the weight. Products of bytes less
 * their zero points are summed as int32. The importer of the float layer emits it, see {@link IntegerSums}. Zero points of the data may be
 * computed, as those of {@code DynamicQuantizeLinear} are.
 *
 * @param operator name of the float layer
 */
record IntegerProduct(String operator, OnnxImporter layer) implements OnnxImporter {
    private static final int DATA_ZERO = 2;
    private static final int WEIGHT_ZERO = 3;

    /** Integers of an operand and the one number that is subtracted from each of them. */
    private record Operand(Arg integers, int zero) {}

    @Override
    public void emit(NodeContext node) {
        for (int i = 0; i < 2; i++) {
            ElementType type = node.element(i);
            node.require(
                    type == ElementType.INT8 || type == ElementType.UINT8,
                    "its input " + i + " holds " + type.text(),
                    "int8 or uint8");
        }
        node.finish(0, sums(node), ElementType.INT32);
    }

    /** The sums of a node of ConvInteger or MatMulInteger. */
    Arg sums(NodeContext node) {
        return operator.equals("MatMul") ? matrices(node) : filtered(node);
    }

    private Arg filtered(NodeContext node) {
        Operand data = bytes(node, 0, DATA_ZERO).orElseGet(() -> difference(node, 0, DATA_ZERO));
        Optional<Operand> weight = bytes(node, 1, WEIGHT_ZERO).or(() -> differenceOfBytes(node));
        return weight.isPresent()
                ? sums(node, data, weight.get())
                : node.subtract(sums(node, data, weights(node)), sums(node, data, zeros(node)));
    }

    private static Operand weights(NodeContext node) {
        return new Operand(node.known(QuantizedBytes.of(node, node.input(1)), "its weights"), 0);
    }

    /** The zero points in place of all weights: what the sums with weights have too much. */
    private static Operand zeros(NodeContext node) {
        Arg zeros = node.broadcast(byteOfZero(node, 1, WEIGHT_ZERO), node.shape(1));
        return new Operand(node.cast(node.known(zeros, "the zero points of its weights"), DType.INT8), 0);
    }

    /** Zero points that are computed are left out of the products: {@code sum((x - a) * (w - b))} is expanded. */
    private Arg matrices(NodeContext node) {
        node.require(node.shape(0).rank() > 1 && node.shape(1).rank() > 1, "it multiplies a vector", "matrices");
        Optional<Operand> knownData = bytes(node, 0, DATA_ZERO);
        Optional<Operand> knownWeight = bytes(node, 1, WEIGHT_ZERO).or(() -> differenceOfBytes(node));
        Operand data = knownData.orElseGet(() -> new Operand(QuantizedBytes.of(node, node.input(0)), 0));
        Operand weight = knownWeight.orElseGet(() -> new Operand(QuantizedBytes.of(node, node.input(1)), 0));
        Arg sums = sums(node, data, weight);
        if (knownWeight.isEmpty()) {
            sums = node.subtract(sums, node.multiply(total(node, data, -1), byteOfZero(node, 1, WEIGHT_ZERO)));
        }
        if (knownData.isEmpty()) {
            Arg zero = byteOfZero(node, 0, DATA_ZERO);
            sums = node.subtract(sums, node.multiply(zero, total(node, weight, -2)));
            if (knownWeight.isEmpty()) {
                Arg both = node.multiply(zero, byteOfZero(node, 1, WEIGHT_ZERO));
                sums = node.add(sums, node.multiply(both, node.shape(0).dim(-1)));
            }
        }
        return sums;
    }

    /** The sum along an axis, from the last one, which stays as 1. */
    private static Arg total(Formulas e, Operand operand, int axis) {
        Arg terms = e.add(e.cast(operand.integers, DType.INT32), -operand.zero);
        return e.reduce(Reduce.Kind.SUM, terms, List.of(e.shape(terms).rank() + axis));
    }

    /** The zero points of an operand whose bytes are held as int8. */
    private static Arg byteOfZero(NodeContext node, int input, int zeroPoint) {
        Arg zero = zeroPoints(node, input, zeroPoint);
        return node.element(input) == ElementType.UINT8 ? node.add(zero, -SignChange.OFFSET) : zero;
    }

    private Arg sums(NodeContext node, Operand data, Operand weight) {
        Map<Integer, OnnxValue> integers = Map.of(
                0,
                new OnnxValue(data.integers, ElementType.FLOAT),
                1,
                new OnnxValue(weight.integers, ElementType.FLOAT));
        NodeContext shadow = node.as(operator, List.of(0, 1))
                .shadow(integers, Optional.of(new IntegerSums(node, data.zero, weight.zero)));
        try {
            layer.emit(shadow);
        } catch (NoIntegers e) {
            throw node.failure("its layer has no integer form", "a layer over images or vectors");
        }
        return shadow.output(0)
                .orElseThrow(() -> node.failure("its result has no name", "a result"))
                .arg();
    }

    /** Bytes with one zero point that is known. */
    private static Optional<Operand> bytes(NodeContext node, int input, int zeroPoint) {
        int shift = node.element(input) == ElementType.UINT8 ? SignChange.OFFSET : 0;
        if (node.has(zeroPoint) && !(node.arg(zeroPoint) instanceof Constant)) {
            return Optional.empty();
        }
        List<Long> zeros = node.has(zeroPoint)
                ? node.integers(zeroPoint, "zero point").stream().distinct().toList()
                : List.of(0L);
        return zeros.size() == 1
                ? Optional.of(
                        new Operand(QuantizedBytes.of(node, node.input(input)), Math.toIntExact(zeros.get(0)) - shift))
                : Optional.empty();
    }

    /** Constant weights less their zero points, if they are bytes. */
    private static Optional<Operand> differenceOfBytes(NodeContext node) {
        Arg difference = difference(node, 1, WEIGHT_ZERO).integers;
        if (!(difference instanceof Constant constant)) {
            return Optional.empty();
        }
        boolean areBytes = IntStream.range(0, constant.elements())
                .allMatch(i -> constant.integer(i) == (byte) constant.integer(i));
        return areBytes ? Optional.of(new Operand(node.cast(constant, DType.INT8), 0)) : Optional.empty();
    }

    /** An operand less its zero points, as int16. */
    private static Operand difference(NodeContext node, int input, int zeroPoint) {
        Arg value = node.cast(node.arg(input), DType.INT32);
        Arg difference = node.subtract(value, zeroPoints(node, input, zeroPoint));
        return new Operand(node.cast(difference, DType.INT16), 0);
    }

    /** Zero points as int32 in dimensions that broadcast over their operand: one, or one for each row, column or channel. */
    private static Arg zeroPoints(NodeContext node, int input, int zeroPoint) {
        if (!node.has(zeroPoint)) {
            return node.number(0, DType.INT32);
        }
        Arg zero = node.cast(node.arg(zeroPoint), DType.INT32);
        Shape shape = node.shape(zero);
        if (shape.elements() == 1) {
            return node.reshape(zero, Shape.scalar());
        }
        boolean isFilter = node.is("ConvInteger");
        int rank = node.shape(input).rank();
        return shape.rank() == 1 && (isFilter || input == 0)
                ? node.reshape(zero, Formulas.along(rank, isFilter ? 0 : rank - 2, shape.dim(0)))
                : zero;
    }

    /**
     * Turns the operators of a float layer into those that sum products of integers, as its importer emits them. The sums stay as they are.
     *
     * @param dataZero number subtracted from each element of the data
     * @param weightZero number subtracted from each element of the weight
     */
    private record IntegerSums(NodeContext node, int dataZero, int weightZero) implements Emitter {
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
                return node.emit(op, args.get(0), node.number(dataZero, node.dtype(args.get(0))));
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
}
