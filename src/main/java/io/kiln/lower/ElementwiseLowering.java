// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.cast;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.Arg;
import io.kiln.ir.arith.TflAddParameters;
import io.kiln.ir.op.Add;
import io.kiln.ir.op.BiasAdd;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.QnnAdd;
import io.kiln.ir.op.QnnDequantize;
import io.kiln.ir.op.QnnQuantize;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.type.Shape;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Intrinsic;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Operators that compute an element from the elements at its place: sums with broadcasting, conversions, rescaling,
 * limits, copies. Operands of the output's shape are walked in one flat loop, others dimension by dimension.
 */
public final class ElementwiseLowering {
    private final FusedOperator op;
    private final Tables tables;
    private final OperatorBuffers buffers;
    private final List<Buffer> operands = new ArrayList<>();
    private final List<Shape> shapes = new ArrayList<>();
    private final Epilogue epilogue;
    private final Optional<ProvenSum> sum;
    private final Shape out;

    public ElementwiseLowering(FusedOperator op) {
        this.op = op;
        this.tables = new Tables(op.name());
        this.buffers = new OperatorBuffers(op, tables);
        this.out = op.type().shape();
        Op root = op.root().op();
        int operandCount = root instanceof QnnAdd || root instanceof Add || root instanceof BiasAdd ? 2 : 1;
        for (int i = 0; i < operandCount; i++) {
            operands.add(buffers.argument(i));
            shapes.add(op.rootTypes().get(i).shape());
        }
        long bound = op.rootTypes().get(0).dtype() == DType.INT8 ? 255 : Integer.MAX_VALUE;
        this.epilogue = new Epilogue(op, bound, tables);
        this.sum = ProvenSum.of(op);
    }

    public LoweredOperator lower(Rows rows) {
        BlockBuilder body = new BlockBuilder();
        boolean flat = shapes.stream().allMatch(s -> s.elements() == out.elements());
        long row = out.elements() / Rows.count(out);
        if (flat && !rows.areContiguous()) {
            body.loop("y", rows.begin(), rows.end(), 1, (line, y) -> byRow(line, rows, y, row));
        } else if (flat) {
            body.loop(
                    "i",
                    mul(rows.begin(), row),
                    mul(rows.end(), row),
                    1,
                    (element, i) -> element(
                            element,
                            operands.stream().map(b -> (Expr) load(b, i)).toList(),
                            i,
                            i));
        } else {
            nested(body, rows);
        }
        List<RowDependency> dependencies = new ArrayList<>();
        for (int id : op.inputs()) {
            int argument = op.root().args().indexOf(new Arg.Ref(id));
            dependencies.add(Nests.elementwise(op.rootTypes().get(argument).shape(), out));
        }
        return Nests.operator(op, buffers, tables, rows, dependencies, body.build(), schedule(flat));
    }

    private String schedule(boolean flat) {
        return (flat ? "flat" : "broadcast") + (sum.isPresent() ? "(sum=proven)" : "");
    }

    /** One row, of operands that have its shape, wherever it lies in each. */
    private void byRow(BlockBuilder block, Rows rows, Expr y, long elements) {
        List<Expr> starts = new ArrayList<>();
        for (int i = 0; i < operands.size(); i++) {
            starts.add(block.let("start" + i, mul(line(rows, i, y), elements)));
        }
        Expr start = block.let("start", mul(rows.outputLine(y), elements));
        block.loop("i", elements, (element, i) -> {
            List<Expr> values = new ArrayList<>();
            for (int k = 0; k < operands.size(); k++) {
                values.add(load(operands.get(k), add(starts.get(k), i)));
            }
            element(element, values, i, add(start, i));
        });
    }

    /** Line at which a row lies in an operand; constants hold all rows. */
    private Expr line(Rows rows, int operand, Expr row) {
        return op.root().args().get(operand) instanceof Arg.Ref ref
                ? rows.inputLine(op.inputs().indexOf(ref.id()), row)
                : row;
    }

    private void nested(BlockBuilder block, Rows rows) {
        ElementLoops.over(block, out, rows, (element, indices, position) -> {
            List<Expr> values = new ArrayList<>();
            for (int i = 0; i < operands.size(); i++) {
                List<Expr> own = new ArrayList<>(indices);
                if (shapes.get(i).equals(out) && Rows.count(out) > 1) {
                    own.set(1, line(rows, i, indices.get(1)));
                }
                values.add(load(operands.get(i), ElementLoops.position(shapes.get(i), own)));
            }
            element(element, values, indices.isEmpty() ? imm(0) : indices.get(out.rank() - 1), position);
        });
    }

    /**
     * Emits one element.
     *
     * @param place equals the channel modulo the number of channels
     * @param index in the output's buffer
     */
    private void element(BlockBuilder block, List<Expr> values, Expr place, Expr index) {
        Expr value = value(block, op.root().op(), values);
        boolean perChannel = op.requantization().isPresent();
        Expr channel = perChannel && out.rank() > 0 ? Exprs.mod(place, imm(out.dim(-1))) : imm(0);
        epilogue.store(block, "_out", value, channel, buffers.output(), index);
    }

    private Expr value(BlockBuilder block, Op root, List<Expr> values) {
        if (root instanceof QnnAdd add && add.rounding() == Rounding.UPWARD) {
            return roundedSum(block, values);
        }
        if (root instanceof QnnAdd) {
            return sum.map(s -> provenSum(s, values)).orElseGet(() -> quantizedSum(block, values));
        }
        if (root instanceof Add || root instanceof BiasAdd) {
            return add(values.get(0), values.get(1));
        }
        if (root instanceof QnnDequantize) {
            Expr centred = sub(values.get(0), imm(zeroPoint(2)));
            return mul(cast(DType.FLOAT32, centred), imm(scale(1)));
        }
        if (root instanceof QnnQuantize) {
            return quantized(block, values.get(0));
        }
        return values.get(0);
    }

    private static Expr provenSum(ProvenSum sum, List<Expr> values) {
        Expr left = add(mul(values.get(0), sum.lhs()), sum.offset());
        return Exprs.shr(add(left, mul(values.get(1), sum.rhs())), imm(sum.shift()));
    }

    /** Both sides on a common scale with 20 more bits, summed, then brought to the output's scale. */
    private Expr quantizedSum(BlockBuilder block, List<Expr> values) {
        TflAddParameters parameters = TflAddParameters.of(scale(2), scale(4), scale(6));
        Expr lhs = mul(sub(values.get(0), imm(zeroPoint(3))), 1L << parameters.leftShift());
        Expr rhs = mul(sub(values.get(1), imm(zeroPoint(5))), 1L << parameters.leftShift());
        Expr left = block.let("lhs", rescale(lhs, parameters.lhs(), 1L << 28));
        Expr right = block.let("rhs", rescale(rhs, parameters.rhs(), 1L << 28));
        return add(rescale(add(left, right), parameters.output(), 1L << 29), imm(zeroPoint(7)));
    }

    /** Both sides on the output's scale, rounded each. */
    private Expr roundedSum(BlockBuilder block, List<Expr> values) {
        Expr left = block.let("lhs", rounded(sub(values.get(0), imm(zeroPoint(3))), scale(2)));
        Expr right = block.let("rhs", rounded(sub(values.get(1), imm(zeroPoint(5))), scale(4)));
        return add(add(left, right), imm(zeroPoint(7)));
    }

    private Expr rounded(Expr value, float inputScale) {
        QuantizedMultiplier by = QuantizedMultiplier.of(inputScale / (double) scale(6));
        return new Expr.Call(Intrinsics.RESCALE_UPWARD, List.of(value, imm(by.multiplier()), imm(31 - by.shift())));
    }

    private static Expr rescale(Expr value, QuantizedMultiplier by, long bound) {
        if (by.shift() == 0) {
            return new Expr.Call(Intrinsics.HIGH_MUL, List.of(value, imm(by.multiplier())));
        }
        boolean fast = Epilogue.isFast(by, bound);
        Intrinsic intrinsic = fast ? Intrinsics.RESCALE : Intrinsics.RESCALE_ANY;
        return new Expr.Call(intrinsic, List.of(value, imm(by.multiplier()), imm(fast ? -by.shift() : by.shift())));
    }

    /** The quotient is limited before it becomes an integer, so that no float is out of the integer's range. */
    private Expr quantized(BlockBuilder block, Expr value) {
        DType dtype = op.type().dtype();
        Expr rounded = new Expr.Call(Intrinsic.ROUNDF, List.of(Exprs.div(value, imm(scale(1)))));
        Expr above = Exprs.max(block.let("rounded", rounded), imm((float) (dtype.min() - zeroPoint(2))));
        Expr within = Exprs.min(block.let("above", above), imm((float) (dtype.max() - zeroPoint(2))));
        return add(cast(DType.INT32, within), imm(zeroPoint(2)));
    }

    private float scale(int argument) {
        return op.root().constant(argument).real(0);
    }

    private int zeroPoint(int argument) {
        return (int) op.root().constant(argument).integer(0);
    }
}
