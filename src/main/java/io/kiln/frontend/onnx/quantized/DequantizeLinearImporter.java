// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.base.DType;
import io.kiln.frontend.Formulas;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.ElementQuantization;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration.OnnxImporter;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.frontend.onnx.operator.OnnxValue.IntegerForm;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** {@code DequantizeLinear}: {@code (x - zeroPoint) * scale}, with one scale, or one for each element of an axis or each block of it. */
final class DequantizeLinearImporter implements OnnxImporter {
    @Override
    public void emit(NodeContext node) {
        ElementType type = node.element(0);
        int rank = node.shape(0).rank();
        boolean isSmall = type.isOfConstants() && node.arg(0) instanceof Constant;
        node.require(
                isSmall || type.held().filter(DType::isInteger).isPresent(),
                "its elements are " + type.text(),
                "integers, or constants of floats of 8 or 4 bits");
        ElementType to = type(node);
        int axis = rank == 0 ? 0 : node.axis(node.whole("axis", rank == 1 ? 0 : 1), rank);
        boolean hasBlocks = node.whole("block_size", 0) != 0;
        if (isSmall || hasBlocks || !ElementQuantization.areConstant(node, 1, 2)) {
            Arg real = computed(node, axis);
            node.finish(0, new OnnxValue(real, to, hasBlocks ? blocks(node, axis) : Optional.empty()));
            return;
        }
        if (type.isPartOfByte() && node.arg(0) instanceof Constant) {
            node.finish(0, new OnnxValue(computed(node, axis), to, Optional.of(ofPartsOfBytes(node, axis))));
            return;
        }
        ElementQuantization by = ElementQuantization.read(node, 1, 2, axis, type);
        boolean isWord = type == ElementType.INT32;
        if (by.isOfBytes() && by.isPerTensor()) {
            Arg bytes = QuantizedBytes.of(node, node.input(0));
            OnnxValue real = QuantizedBytes.dequantized(node, new IntegerForm.Dequantized(bytes, by));
            node.finish(0, new OnnxValue(real.arg(), to, real.form()));
        } else if (by.isOfBytes() || isWord) {
            Arg integers = isWord ? node.arg(0) : QuantizedBytes.of(node, node.input(0));
            IntegerForm.Dequantized form = centred(node, new IntegerForm.Dequantized(integers, by));
            node.finish(0, new OnnxValue(computed(node, axis), to, Optional.of(form)));
        } else if (by.isOfShorts() && by.isPerTensor() && !(node.arg(0) instanceof Constant)) {
            Arg shorts = QuantizedBytes.shorts(node, node.input(0));
            OnnxValue real =
                    new OnnxValue(computed(node, axis), to, Optional.of(new IntegerForm.Dequantized(shorts, by)));
            node.finish(0, real);
        } else {
            node.finish(0, computed(node, axis), to);
        }
    }

    /** Half of the range of an unsigned type, 0 of a signed one: less it, integers of a type are signed ones of the same number of bits. */
    private static int offset(ElementType type) {
        return type.isUnsigned() ? 1 << (type.bits() - 1) : 0;
    }

    /** Integers of less than 8 bits as int8, which layers compute with; unsigned ones of four bits from -8 on. */
    private static IntegerForm ofPartsOfBytes(NodeContext node, int axis) {
        int offset = offset(node.element(0));
        ElementQuantization read = ElementQuantization.read(node, 1, 2, axis, ElementType.INT8);
        List<Integer> zeroPoints =
                read.zeroPoints().stream().map(zero -> zero - offset).toList();
        IntegerForm.Dequantized form = new IntegerForm.Dequantized(
                signed(node, node.arg(0), offset),
                new ElementQuantization(read.scales(), zeroPoints, axis, ElementType.INT8));
        return centred(node, form);
    }

    private static Arg signed(NodeContext node, Arg integers, int offset) {
        return offset == 0 ? integers : node.cast(node.add(node.cast(integers, DType.INT32), -offset), DType.INT8);
    }

    /** The form of a constant matrix of bytes, or of less, with constant parameters for each block. */
    private static Optional<IntegerForm> blocks(NodeContext node, int axis) {
        ElementType type = node.element(0);
        boolean isMatrix = node.arg(0) instanceof Constant
                && node.shape(0).rank() == 2
                && node.shape(0).elements() > 0
                && type.bits() <= Byte.SIZE
                && !type.isFloat()
                && ElementQuantization.areConstant(node, 1, 2);
        if (!isMatrix) {
            return Optional.empty();
        }
        Constant scales = node.known(node.cast(node.arg(1), DType.FLOAT32), "its scales");
        boolean areFinite = IntStream.range(0, scales.elements()).allMatch(i -> Float.isFinite(scales.real(i)));
        int offset = offset(type);
        Arg zero = node.has(2)
                ? node.add(node.cast(node.arg(2), DType.FLOAT32), -offset)
                : node.reals(Collections.nCopies(scales.elements(), -offset), node.shape(1));
        long size = Math.min(node.whole("block_size", 0), node.shape(0).dim(axis));
        return areFinite && node.known(zero, "its zero points").type().equals(scales.type())
                ? Optional.of(new IntegerForm.Blocks(
                        node.known(signed(node, node.arg(0), offset), "its integers"),
                        scales,
                        node.known(zero, "its zero points"),
                        axis,
                        (int) size))
                : Optional.empty();
    }

    /** Constant bytes whose channels have zero points of their own, less these, if they are bytes still. */
    private static IntegerForm.Dequantized centred(NodeContext node, IntegerForm.Dequantized form) {
        ElementQuantization by = form.by();
        if (by.hasOneZeroPoint() || !by.isOfBytes() || !(form.integers() instanceof Constant integers)) {
            return form;
        }
        Shape shape = Formulas.along(
                integers.type().shape().rank(), by.axis(), by.zeroPoints().size());
        Arg zeros = node.ints(by.zeroPoints(), shape);
        Arg difference = node.subtract(node.cast(integers, DType.INT32), zeros);
        boolean areBytes = difference instanceof Constant known
                && IntStream.range(0, known.elements()).allMatch(i -> known.integer(i) == (byte) known.integer(i));
        return areBytes
                ? new IntegerForm.Dequantized(
                        node.cast(difference, DType.INT8),
                        new ElementQuantization(
                                by.scales(), Collections.nCopies(by.scales().size(), 0), by.axis(), ElementType.INT8))
                : form;
    }

    /** The type of the result: what is stated, or else that of the scale. */
    private static ElementType type(NodeContext node) {
        ElementType stated =
                ElementType.ofCode((int) node.whole("output_dtype", 0)).orElse(ElementType.UNDEFINED);
        ElementType scale =
                node.element(1).isFloat() && !node.element(1).isOfConstants() ? node.element(1) : ElementType.FLOAT;
        ElementType type = stated == ElementType.UNDEFINED ? scale : stated;
        node.require(
                type.isFloat() && !type.isOfConstants(),
                "its output_dtype is " + type.text(),
                "a float of 16 bits or more");
        return type;
    }

    /** The definition, for parameters of any form. */
    private static Arg computed(NodeContext node, int axis) {
        Arg value = node.cast(node.arg(0), DType.FLOAT32);
        if (node.has(2)) {
            value = node.subtract(value, node.cast(spread(node, 2, axis), DType.FLOAT32));
        }
        return node.multiply(value, spread(node, 1, axis));
    }

    /** A scale or zero point in dimensions that broadcast over the data; one for each block is repeated. */
    static Arg spread(NodeContext node, int index, int axis) {
        Shape data = node.shape(0);
        long size = node.whole("block_size", 0);
        if (size != 0) {
            return repeated(node, index, axis, size);
        }
        List<Integer> dims = dims(node.shape(index), data, axis)
                .orElseThrow(() -> node.failure(
                        "its parameters " + node.shape(index).text() + " do not fit its data " + data.text(),
                        "one, or one for each element of axis " + axis));
        return node.reshape(node.arg(index), dims);
    }

    private static Arg repeated(NodeContext node, int index, int axis, long size) {
        Shape data = node.shape(0);
        List<Integer> dims = new ArrayList<>(data.dims());
        int length = dims.isEmpty() ? 0 : dims.get(axis);
        long blocks = size > 0 ? (length + size - 1) / size : 0;
        if (blocks > 0) {
            dims.set(axis, (int) blocks);
        }
        node.require(
                blocks > 0 && node.shape(index).dims().equals(dims),
                "its parameters are " + node.shape(index).text() + " with a block_size of " + size,
                "one for each block of axis " + axis + " of " + data.text());
        int width = (int) Math.min(size, length);
        dims.add(axis + 1, 1);
        Arg value = node.reshape(node.arg(index), dims);
        dims.set(axis + 1, width);
        value = node.broadcast(value, new Shape(dims));
        dims.remove(axis + 1);
        dims.set(axis, (int) blocks * width);
        return node.slice(node.reshape(value, dims), axis, 0, length);
    }

    /** Dimensions in which parameters of an axis broadcast over data. */
    private static Optional<List<Integer>> dims(Shape parameters, Shape data, int axis) {
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
