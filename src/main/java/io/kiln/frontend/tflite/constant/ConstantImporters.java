// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.constant;

import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT64;
import static io.kiln.base.DType.INT8;
import static io.kiln.frontend.tflite.operator.Registration.builtin;
import static io.kiln.frontend.tflite.operator.Registration.custom;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.Registration;
import io.kiln.frontend.tflite.operator.Registration.OperatorImporter;
import io.kiln.frontend.tflite.schema.BuiltinOperator;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Constant;
import io.kiln.ir.op.element.Full;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Operators whose results are constant, or repeat one element. */
public final class ConstantImporters {
    private static final int MOST_DIMS = 8;

    public static final List<Registration> ALL = List.of(
            builtin(BuiltinOperator.DENSIFY, 1, ConstantImporters::densify),
            builtin(BuiltinOperator.FILL, 4, ConstantImporters::fill),
            builtin(BuiltinOperator.ZEROS_LIKE, 1, new ZerosImporter()),
            custom("TFLM_DECODE", ConstantImporters::decode));

    private ConstantImporters() {}

    /** DENSIFY: sparse constants have all of their elements when they have been read. */
    private static void densify(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        operator.requireThat(
                data.isConstant(),
                data.text() + " is computed",
                "a sparse constant",
                "Export the model with dense weights");
        operator.finish(operator.constant(data));
    }

    /** ZEROS_LIKE: always a constant. */
    private static final class ZerosImporter implements OperatorImporter {
        @Override
        public void emit(OperatorContext operator) {
            TfliteTensor data = operator.input(0);
            operator.checkTypes(Set.of(FLOAT32, INT8, INT32, INT64), data, operator.output());
            TensorType type = data.type();
            operator.spend(type.bytes());
            operator.finish(new Constant("", type, Bytes.wrap(new byte[Math.toIntExact(type.bytes())])));
        }
    }

    /** TFLM_DECODE: constants that are compressed in the file. They are decoded during import, and stay constants. */
    private static void decode(OperatorContext operator) {
        List<TfliteTensor> outputs = operator.outputs();
        operator.requireThat(
                !outputs.isEmpty() && operator.inputCount() == 2 * outputs.size(),
                "it has " + operator.inputCount() + " inputs and " + outputs.size() + " outputs",
                "codes and ancillary data for each output",
                "Compress the model again");
        for (int i = 0; i < outputs.size(); i++) {
            decode(operator, operator.input(2 * i), operator.input(2 * i + 1), outputs.get(i));
        }
    }

    private static void decode(
            OperatorContext operator, TfliteTensor codes, TfliteTensor ancillary, TfliteTensor output) {
        operator.requireTypes(EncodedConstant.types(), output);
        for (TfliteTensor tensor : List.of(codes, ancillary)) {
            operator.require(
                    tensor.isStored() && !tensor.variable(),
                    tensor.text() + " is not constant",
                    "codes and ancillary data that are in the file",
                    "Compress the model again");
        }
        operator.check();
        operator.spend(output.type().bytes());
        try {
            byte[] decoded = EncodedConstant.decode(
                    codes.data().bytes(), ancillary.data().bytes(), output);
            operator.values().define(output.index(), new Constant(output.name(), output.type(), Bytes.wrap(decoded)));
        } catch (IllegalArgumentException e) {
            throw failure(operator, output, e);
        }
    }

    private static KilnException failure(OperatorContext operator, TfliteTensor output, IllegalArgumentException e) {
        return operator.failure(
                "`" + output.name() + "` cannot be decoded: " + e.getMessage(),
                "the format of TensorFlow Lite Micro's compressor");
    }

    /** FILL: a tensor of one value. The value may be computed; the dimensions must be constant. */
    private static void fill(OperatorContext operator) {
        TfliteTensor dims = operator.input(0);
        TfliteTensor value = operator.input(1);
        operator.requireTypes(Set.of(INT8, INT16, INT32, INT64), dims);
        operator.requireTypes(Set.of(FLOAT32, INT32, INT8), value, operator.output());
        operator.requireConstant("dimensions", dims);
        operator.require(
                dims.shape().rank() == 1 && dims.shape().dim(0) <= MOST_DIMS,
                "the dimensions are " + dims.text(),
                "a vector of at most " + MOST_DIMS,
                "");
        operator.requireThat(value.shape().rank() == 0, "the value is " + value.text(), "a scalar", "");
        Shape shape = shape(operator, operator.constant(dims));
        operator.finish(new Full(shape), operator.value(value));
    }

    private static Shape shape(OperatorContext operator, Constant dims) {
        List<Integer> sizes = new ArrayList<>();
        double elements = 1;
        for (int i = 0; i < dims.elements(); i++) {
            long size = dims.integer(i);
            elements *= size;
            operator.requireThat(
                    size >= 0 && elements <= TensorType.MAX_BYTES,
                    "dimension " + i + " is " + size,
                    "dimensions that make at most " + TensorType.MAX_BYTES + " bytes");
            sizes.add((int) size);
        }
        operator.spend((long) (elements * Integer.BYTES));
        return new Shape(sizes);
    }
}
