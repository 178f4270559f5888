// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.reduce;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.ir.Arg;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.reduce.Reduce;
import java.util.List;

/** The table of reductions; formulas are those of ONNX's operator pages. */
public final class ReduceImporters {
    private static final int SUM_AXES_INPUT = 13;
    private static final int AXES_INPUT = 18;

    /** All operators of the family. */
    public static final List<OnnxRegistration> ALL = List.of(
            onnx("ReduceSum", new ReduceImporter(SUM_AXES_INPUT, ReduceImporters::sum)),
            reduce("ReduceMean", (e, x, axes) -> e.reduce(Reduce.Kind.MEAN, x, axes)),
            reduce("ReduceMax", (e, x, axes) -> Halving.reduce(e, Reduce.Kind.MAX, Binary.Kind.MAXIMUM, x, axes)),
            reduce("ReduceMin", (e, x, axes) -> Halving.reduce(e, Reduce.Kind.MIN, Binary.Kind.MINIMUM, x, axes)),
            reduce("ReduceProd", (e, x, axes) -> Halving.reduce(e, Binary.Kind.MULTIPLY, x, axes)),
            reduce("ReduceL1", (e, x, axes) -> sum(e, e.unary(Unary.Kind.ABS, x), axes)),
            reduce("ReduceL2", (e, x, axes) -> e.unary(Unary.Kind.SQRT, sum(e, e.multiply(x, x), axes))),
            reduce("ReduceSumSquare", (e, x, axes) -> sum(e, e.multiply(x, x), axes)),
            reduce("ReduceLogSum", (e, x, axes) -> e.unary(Unary.Kind.LOG, sum(e, x, axes))),
            reduce("ReduceLogSumExp", ReduceImporters::logSumExp),
            onnx("ArgMax", new ArgImporter(true)),
            onnx("ArgMin", new ArgImporter(false)),
            onnx("TopK", new TopkImporter()));

    private ReduceImporters() {}

    private static OnnxRegistration reduce(String name, ReduceImporter.Formula formula) {
        return onnx(name, new ReduceImporter(AXES_INPUT, formula));
    }

    private static Arg sum(Expressions e, Arg data, List<Integer> axes) {
        return Halving.reduce(e, Reduce.Kind.SUM, Binary.Kind.ADD, data, axes);
    }

    /** Without overflow: {@code max + log(sum(exp(x - max)))}; an infinite maximum is not subtracted. */
    private static Arg logSumExp(Expressions e, Arg data, List<Integer> axes) {
        Arg most = e.reduce(Reduce.Kind.MAX, data, axes);
        Arg isFinite = e.binary(
                Binary.Kind.LESS_EQUAL, e.unary(Unary.Kind.ABS, most), e.number(Float.MAX_VALUE, DType.FLOAT32));
        Arg max = e.where(isFinite, most, e.number(0, DType.FLOAT32));
        Arg sum = sum(e, e.unary(Unary.Kind.EXP, e.subtract(data, max)), axes);
        return e.add(max, e.unary(Unary.Kind.LOG, sum));
    }
}
