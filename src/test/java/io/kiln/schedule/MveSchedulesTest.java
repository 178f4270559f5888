// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Optimize;
import io.kiln.draw.RandomOperators;
import io.kiln.ir.Function;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.op.layer.QnnDense;
import io.kiln.lower.Epilogue;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.FoldedSums;
import io.kiln.target.Target;
import io.kiln.tir.Kernel;
import io.kiln.tir.Stmt;
import io.kiln.transform.Pipeline;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** What the schedules for MVE choose; what they compute is held by the property tests. */
class MveSchedulesTest {
    private static final Target M55 = Target.parse("c -mcpu=cortex-m55");
    private static final Target M4 = Target.parse("c -mcpu=cortex-m4");

    private static List<FusedOperator> operators() {
        List<FusedOperator> all = new ArrayList<>();
        LongStream.range(0, 1500).forEach(seed -> {
            Function function = Pipeline.standard().run(RandomOperators.next(seed));
            all.addAll(FusedOperator.all(function, "f"));
        });
        return all;
    }

    private static boolean isConvolution(FusedOperator op) {
        return op.root().op() instanceof QnnConv2d || op.root().op() instanceof QnnDense;
    }

    private static void kernels(Stmt stmt, Map<String, Kernel> found) {
        if (stmt instanceof Stmt.Block block) {
            block.statements().forEach(s -> kernels(s, found));
        } else if (stmt instanceof Stmt.For loop) {
            kernels(loop.body(), found);
        } else if (stmt instanceof Stmt.If branch) {
            kernels(branch.then(), found);
            branch.otherwise().ifPresent(s -> kernels(s, found));
        } else if (stmt instanceof Stmt.CallKernel call) {
            Kernel known = found.putIfAbsent(call.kernel().name(), call.kernel());
            assertThat(known == null || known.equals(call.kernel()))
                    .as(call.kernel().name())
                    .isTrue();
        }
    }

    @Test
    void kernelsOfOneNameAreOne() {
        Map<String, Kernel> found = new HashMap<>();
        Dispatch dispatch = new Dispatch(M55, Optimize.SPEED);
        operators().forEach(op -> kernels(dispatch.lower(op).function().body(), found));
        assertThat(found.keySet()).anyMatch(name -> name.startsWith("kiln_mve_gemm_"));
        assertThat(found.keySet()).anyMatch(name -> name.startsWith("kiln_mve_depthwise"));
        assertThat(found.keySet()).anyMatch(name -> name.startsWith("kiln_mve_sum_"));
    }

    @Test
    void copiedColumnsStaySmallAndSinglePixelsAreReadInPlace() {
        Dispatch dispatch = new Dispatch(M55, Optimize.SPEED);
        int gemms = 0;
        for (FusedOperator op : operators()) {
            LoweredOperator lowered = dispatch.lower(op);
            if (!lowered.schedule().startsWith("mve_gemm")) {
                continue;
            }
            gemms++;
            ConvComputation conv = ConvComputation.of(op);
            boolean single = conv.window().kernelH() == 1
                    && conv.window().kernelW() == 1
                    && !conv.window().isPadded();
            if (single) {
                assertThat(lowered.scratchBytes()).as(lowered.schedule()).isZero();
            } else {
                assertThat(lowered.scratchBytes()).as(lowered.schedule()).isBetween(1L, 2048L + 15);
            }
        }
        assertThat(gemms).isGreaterThan(50);
    }

    @Test
    void coresWithoutVectorsHaveOtherKernelsAndShiftsToTheLeftKeepTheirs() {
        Dispatch without = new Dispatch(M4, Optimize.SPEED);
        Dispatch with = new Dispatch(M55, Optimize.SPEED);
        int left = 0;
        for (FusedOperator op : operators()) {
            assertThat(without.lower(op).schedule()).doesNotStartWith("mve_");
            if (isConvolution(op)) {
                Optional<FoldedSums> sums = FoldedSums.of(ConvComputation.of(op));
                boolean isLeft = sums.filter(s -> !Epilogue.isFast(s.requantization(), s.largest()))
                        .isPresent();
                left += isLeft && with.lower(op).schedule().startsWith("mve_") ? 1 : 0;
            }
        }
        assertThat(left).isPositive();
    }
}
