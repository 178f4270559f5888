// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.c;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.codegen.c.LoopRun.Region;
import io.kiln.codegen.c.LoopRun.Step;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.PrimFunc;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the property tests of lowered loops rely on: a run that touches too much, or computes what C leaves undefined, fails. */
class LoopProgramTest {
    private static final Buffer INPUT = new Buffer("input", DType.INT8, 12, Buffer.Scope.INPUT);
    private static final Buffer OUTPUT = new Buffer("output", DType.INT8, 12, Buffer.Scope.OUTPUT);
    private static final Expr.Var N = Exprs.var("n");
    private static final Bytes DATA = Bytes.wrap(new byte[] {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});

    @TempDir
    private Path folder;

    private final LoopProgram program = LoopProgram.checkingArithmetic();
    private final List<Integer> numbers = new ArrayList<>();

    /** Rows 1 and 2 of three may be touched, of four bytes each. */
    private void add(BlockBuilder body, int n) {
        PrimFunc function = new PrimFunc("f", "", List.of(INPUT, OUTPUT), List.of(N), List.of(), body.build());
        List<Region> regions = List.of(Region.rows(12, 3, 1, 3), Region.rows(12, 3, 1, 3));
        Step step = new Step(List.of(DATA), List.of(n));
        numbers.add(program.add(new LoopRun(function, regions, false, List.of(step))));
    }

    private static BlockBuilder copy(Expr from, Expr to) {
        BlockBuilder body = new BlockBuilder();
        body.store(OUTPUT, to, Exprs.load(INPUT, from));
        return body;
    }

    @Test
    void whatARunMustNotDoIsNoticed() {
        add(copy(N, Exprs.imm(4)), 11);
        add(copy(N, Exprs.imm(4)), 3);
        add(copy(N, Exprs.imm(4)), 12);
        add(copy(Exprs.imm(4), N), 3);
        add(copy(Exprs.imm(4), N), 12);
        add(copy(Exprs.div(Exprs.mul(N, N), Exprs.imm(1 << 30)), Exprs.imm(4)), 1 << 17);
        List<LoopAnswer> answers = program.run(folder);

        LoopAnswer good = answers.get(numbers.get(0));
        assertThat(good.failures()).isEmpty();
        assertThat(good.outputs())
                .allSatisfy(output -> assertThat(output.get(0)).isEqualTo((byte) 11));
        assertThat(good.outputs().get(0).get(1))
                .as("a byte that was not written")
                .isNotEqualTo(good.outputs().get(1).get(1));
        List<String> failures = numbers.subList(1, 5).stream()
                .map(number -> String.join("; ", answers.get(number).failures()))
                .toList();
        assertThat(failures)
                .containsExactly(
                        "touches byte 3 of input, not just 4 to 12",
                        "touches byte 12 of input, not just 4 to 12",
                        "touches byte 3 of output, not just 4 to 12",
                        "touches byte 12 of output, not just 4 to 12");
        assertThat(answers.get(numbers.get(5)).failures()).hasSize(2).allMatch(text -> text.startsWith("trapped"));
    }
}
