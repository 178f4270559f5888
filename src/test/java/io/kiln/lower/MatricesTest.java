// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.DType;
import io.kiln.base.DrawnCases;
import io.kiln.base.Optimize;
import io.kiln.codegen.c.LoopProgram;
import io.kiln.draw.FunctionDraw;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.op.element.TflRequantize;
import io.kiln.ir.op.layer.TflBatchMatmul;
import io.kiln.ir.type.Shape;
import io.kiln.schedule.Dispatch;
import io.kiln.target.Target;
import io.kiln.target.TestTargets;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Products of two computed matrices of any type by the kernels of all cores, with zero points and multipliers of each column. */
final class MatricesTest {
    private static final List<String> TARGETS =
            List.of(TestTargets.M55, TestTargets.M4, TestTargets.M3, TestTargets.M0, TestTargets.RV32);

    private static final List<DType> TYPES = List.of(DType.INT16, DType.FLOAT32, DType.INT8);
    private static final int CASES = DrawnCases.atLeast(120);
    private static final int FIRST_SEED = Integer.getInteger("kiln.seed", 0);

    @TempDir
    private Path folder;

    private static Function product(int seed) {
        FunctionDraw draw = new FunctionDraw(seed);
        DType type = TYPES.get(draw.below(TYPES.size()));
        int batch = 1 + draw.below(3) / 2;
        int rows = 1 + draw.below(10);
        int depth = 1 + draw.below(21);
        int columns = 1 + draw.below(40);
        TflBatchMatmul op = new TflBatchMatmul(draw.below(2) == 0, draw.below(2) == 0);
        Shape a = op.transposeA() ? Shape.of(batch, depth, rows) : Shape.of(batch, rows, depth);
        int batches = draw.below(2) == 0 ? batch : 1;
        Shape b = op.transposeB() ? Shape.of(batches, columns, depth) : Shape.of(batches, depth, columns);
        boolean hasZeros = draw.below(3) == 0 && !type.isFloat();
        Constant zeroOfA = Constant.scalar(hasZeros ? draw.below(200) - 100 : 0);
        Constant zeroOfB = Constant.scalar(hasZeros ? draw.below(200) - 100 : 0);
        Arg.Ref sums = draw.bind(op, draw.parameter(a, type), draw.parameter(b, type), zeroOfA, zeroOfB);
        if (!type.isFloat()) {
            int channels = draw.below(2) == 0 ? 1 : columns;
            int[] multipliers = IntStream.range(0, channels)
                    .map(c -> (1 << 30) + draw.below(1 << 30))
                    .toArray();
            int shift = (type == DType.INT16 ? -14 : -6) - draw.below(4);
            int[] shifts = IntStream.range(0, channels).map(c -> shift).toArray();
            draw.bind(
                    new TflRequantize(-1, 0, type == DType.INT8 ? draw.below(20) : 0, type),
                    sums,
                    channels == 1 ? Constant.scalar(multipliers[0]) : Constant.vector(multipliers),
                    channels == 1 ? Constant.scalar(shifts[0]) : Constant.vector(shifts));
        }
        return draw.function("product" + seed);
    }

    @Test
    void productsAreThoseOfTheInterpreter() {
        CheckedRuns runs = new CheckedRuns(LoopProgram.checkingMemory());
        int byKernel = 0;
        for (int seed = FIRST_SEED; seed < FIRST_SEED + CASES; seed++) {
            Target target = Target.parse(TARGETS.get(seed % TARGETS.size()));
            LoweringCase c = LoweringCase.of(product(seed), seed);
            LoweredOperator lowered = new Dispatch(target, Optimize.SPEED)
                    .lower(c.op(), Rows.whole(c.op().type().shape()));
            byKernel += lowered.schedule().startsWith("matrix(") ? 1 : 0;
            runs.add(c.whole(lowered));
        }
        runs.check(folder);
        assertThat(byKernel).isGreaterThan(CASES / 4);
    }
}
