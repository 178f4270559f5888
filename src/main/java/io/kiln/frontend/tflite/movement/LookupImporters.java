// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.movement;

import static io.kiln.frontend.tflite.operator.Registration.builtin;
import static io.kiln.frontend.tflite.operator.Registration.builtinOfBytes;

import io.kiln.base.DType;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.FlatTable;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.Registration;
import io.kiln.frontend.tflite.schema.BuiltinOperator;
import io.kiln.frontend.tflite.schema.OperatorOptions.Gather;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.element.QnnDequantize;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.op.movement.Take;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;

/** Lookup of elements by index: EMBEDDING_LOOKUP, GATHER, GATHER_ND. */
public final class LookupImporters {

    public static final List<Registration> ALL = List.of(
            builtin(BuiltinOperator.EMBEDDING_LOOKUP, 3, LookupImporters::embed),
            builtinOfBytes(BuiltinOperator.GATHER, 7, LookupImporters::gather),
            builtinOfBytes(BuiltinOperator.GATHER_ND, 5, LookupImporters::gatherNd));

    private LookupImporters() {}

    private static void gather(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        TfliteTensor indices = operator.input(1);
        FlatTable options = operator.requiredOptions(Gather.TYPE);
        operator.require(
                indices.dtype() == DType.INT32, "the indices are " + indices.text(), "int32", "Convert the indices");
        int axis = operator.axis(options.get(Gather.AXIS), data.shape().rank());
        int stated = options.get(Gather.BATCH_DIMS);
        if (indices.isConstant()) {
            requireInside(operator, operator.constant(indices), data.shape().dim(axis));
        }
        operator.check();
        int batchDims = stated < 0 ? stated + indices.shape().rank() : stated;
        operator.finish(new Take(axis, batchDims), operator.value(data), operator.value(indices));
    }

    /** EMBEDDING_LOOKUP: rows of a table by index. */
    private static void embed(OperatorContext operator) {
        TfliteTensor indices = operator.input(0);
        TfliteTensor table = operator.input(1);
        operator.require(
                indices.dtype() == DType.INT32, "the indices are " + indices.text(), "int32", "Convert the indices");
        boolean isHybrid = table.dtype() == DType.INT8 && operator.output().dtype() == DType.FLOAT32;
        operator.requireThat(
                (isHybrid || table.dtype() == operator.output().dtype())
                        && table.shape().rank() > 0,
                "from " + table.text() + " to " + operator.output().dtype().text() + " is not supported",
                "one type for table and output, or a table of int8 and an output of float32",
                "Convert the model again");
        if (isHybrid) {
            operator.checkScales(table);
            operator.requireThat(
                    table.quantization().zeroPoint() == 0,
                    "the table has zero point " + table.quantization().zeroPoint(),
                    "0",
                    "Quantize the model again");
        }
        Arg rows = operator.emit(new Take(0, 0), operator.value(table), operator.value(indices));
        operator.finish(isHybrid ? operator.emit(new QnnDequantize(), rows, table.scale(), Constant.scalar(0)) : rows);
    }

    /** GATHER_ND: the indexed dimensions become one dimension, and each index one number. */
    private static void gatherNd(OperatorContext operator) {
        TfliteTensor indices = operator.input(1);
        Shape data = operator.input(0).shape();
        int named = indices.shape().rank() == 0 ? 0 : indices.shape().dim(-1);
        operator.requireThat(
                indices.dtype() == DType.INT32 && named > 0 && named <= data.rank(),
                "the indices are " + indices.text(),
                "int32, with 1 to " + data.rank() + " numbers for an index",
                "Convert the indices");
        List<Integer> rest = new ArrayList<>(data.dims().subList(named, data.rank()));
        int joined = 1;
        Arg index = Constant.scalar(0);
        Shape each = new Shape(indices.shape().dims().subList(0, indices.shape().rank() - 1));
        int last = indices.shape().rank() - 1;
        for (int i = 0; i < named; i++) {
            Arg part = operator.emit(StridedSlice.along(indices.shape(), last, i, i + 1, 1), operator.value(indices));
            Arg number = operator.emit(new Reshape(each), part);
            Arg scaled = i == 0 ? number : operator.multiply(index, Constant.scalar(data.dim(i)));
            index = i == 0 ? number : operator.add(scaled, number);
            joined *= data.dim(i);
        }
        rest.add(0, joined);
        Arg table = operator.emit(new Reshape(new Shape(rest)), operator.value(0));
        operator.finish(new Take(0, 0), table, index);
    }

    private static void requireInside(OperatorContext operator, Constant indices, int size) {
        for (int i = 0; i < indices.elements(); i++) {
            long index = indices.integer(i);
            if (index < 0 || index >= size) {
                operator.require(false, "index " + index, "0 to " + (size - 1));
                return;
            }
        }
    }
}
