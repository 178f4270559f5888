// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.Optimize;
import io.kiln.codegen.CodeUnit;
import io.kiln.codegen.CodeUnit.CodeOrigin;
import io.kiln.codegen.CodeUnit.RamSections;
import io.kiln.draw.RandomOperators;
import io.kiln.ir.op.Trait;
import io.kiln.lower.FusedOperator;
import io.kiln.schedule.Dispatch;
import io.kiln.target.Target;
import io.kiln.target.TestTargets;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Numbers;
import io.kiln.tir.PrimFunc;
import io.kiln.tir.PrimFunc.Table;
import io.kiln.tir.Stmt;
import io.kiln.tir.TirPrinter;
import io.kiln.tir.TirVerifier;
import io.kiln.transform.Pipeline;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Operators that differ in numbers and tables only have one function. */
class SharedFunctionsTest {
    private static final int ELEMENTS = 64;
    private static final int CASES = 300;
    private static final Buffer INPUT = new Buffer("input", DType.INT8, ELEMENTS, Buffer.Scope.INPUT);
    private static final Buffer OUTPUT = new Buffer("output", DType.INT8, ELEMENTS, Buffer.Scope.OUTPUT);
    private static final Buffer TABLE = new Buffer("operand", DType.INT8, ELEMENTS, Buffer.Scope.CONSTANT);

    @Test
    void numbersAndTablesThatDifferAreHandedOver() {
        CodeUnit shared = SharedFunctions.within(
                unit(scaled("a", 3, 1000, 8, 1), scaled("b", -3, 1000, 8, 2), scaled("c", 4, 1000, 8, 1)),
                Optimize.SPEED);
        assertThat(shared.functions()).extracting(PrimFunc::name).containsExactly("a_shared", "a", "b", "c");
        PrimFunc whole = shared.functions().get(0);
        assertThat(whole.buffers()).containsExactly(INPUT, OUTPUT, TABLE);
        assertThat(whole.scalars()).containsExactly(Exprs.var("number"));
        assertThat(whole.constants()).isEmpty();
        assertThat(shared.functions().subList(1, 4))
                .extracting(PrimFunc::body)
                .containsExactly(call(3), call(-3), call(4));
        assertThat(shared.functions().get(2).constants())
                .extracting(Table::symbol)
                .containsExactly("table2");
        shared.functions().forEach(TirVerifier::verify);
    }

    private static Stmt call(long number) {
        return new Stmt.CallFunction("a_shared", List.of(INPUT, OUTPUT, TABLE), List.of(Exprs.imm(number)));
    }

    @Test
    void aTableOfAllStaysWithTheFunction() {
        CodeUnit shared = SharedFunctions.within(
                unit(scaled("a", 3, 1000, 8, 1), scaled("b", 5, 2000, 8, 1), scaled("c", 5, 2000, 8, 1)),
                Optimize.SPEED);
        assertThat(shared.functions().get(0).constants())
                .extracting(Table::symbol)
                .containsExactly("table1");
        assertThat(shared.functions().get(0).scalars()).hasSize(2);
        assertThat(shared.functions().get(1).constants()).isEmpty();
    }

    /** Other shifts make other code; one function saves nothing, and neither do two whose loops are not unrolled. */
    @Test
    void othersStay() {
        CodeUnit others = unit(scaled("a", 3, 1000, 8, 1), scaled("b", 3, 1000, 9, 1));
        assertThat(SharedFunctions.within(others, Optimize.SPEED)).isEqualTo(others);
        CodeUnit two = unit(scaled("a", 3, 1000, 8, 1), scaled("b", 4, 1001, 8, 2));
        assertThat(SharedFunctions.within(two, Optimize.SIZE)).isEqualTo(two);
        assertThat(SharedFunctions.within(two, Optimize.SPEED)).isNotEqualTo(two);
    }

    @Test
    void aFunctionOfOthersThatAreCopiedToRamIsCopied() {
        RamSections copied = new RamSections(Optional.of("ram.h"), Set.of("a", "b"));
        CodeUnit shared = SharedFunctions.within(
                unit(
                                scaled("a", 3, 1000, 8, 1),
                                scaled("b", 4, 1000, 8, 1),
                                scaled("c", 5, 1000, 8, 1),
                                scaled("d", 6, 1000, 8, 1))
                        .with(copied),
                Optimize.SPEED);
        assertThat(shared.functions())
                .extracting(PrimFunc::name)
                .containsExactly("a_shared", "a", "b", "c_shared", "c", "d");
        assertThat(shared.ram().functions()).containsExactlyInAnyOrder("a_shared", "a", "b");
    }

    /** The function with what an operator hands over is that operator's. */
    @Test
    void drawnOperatorsWithOtherNumbersStayWhatTheyAre() {
        Dispatch dispatch = new Dispatch(Target.parse(TestTargets.M4), Optimize.SPEED);
        Random random = new Random(4);
        int count = 0;
        for (long seed = 0; seed < CASES; seed++) {
            for (FusedOperator op : FusedOperator.all(
                    Pipeline.standard()
                            .run(seed % 2 == 0 ? RandomOperators.mixed(seed) : RandomOperators.element(seed)),
                    "drawn")) {
                if (!op.root().op().has(Trait.VIEW)) {
                    PrimFunc first = dispatch.lower(op).function();
                    List<PrimFunc> all = new ArrayList<>(List.of(first));
                    for (int i = 1; i < 4; i++) {
                        all.add(other(first.named(first.name() + i), random));
                    }
                    count += compare(all);
                }
            }
        }
        assertThat(count).as("functions that were shared").isGreaterThan(CASES / 4);
    }

    private static PrimFunc other(PrimFunc function, Random random) {
        List<Expr> values = Numbers.of(function.body()).values().stream()
                .map(number -> random.nextInt(4) > 0 ? number : other(number, random))
                .toList();
        return new PrimFunc(
                function.name(),
                function.comment(),
                function.buffers(),
                function.scalars(),
                function.constants(),
                Numbers.replace(function.body(), values));
    }

    private static Expr other(Expr number, Random random) {
        return number.dtype().isFloat()
                ? Exprs.imm(random.nextFloat())
                : Exprs.imm(((Expr.IntImm) number).value() < 0 ? -1000L : 1000L + random.nextInt(9), number.dtype());
    }

    private static int compare(List<PrimFunc> functions) {
        CodeUnit code = SharedFunctions.within(unit(functions.toArray(PrimFunc[]::new)), Optimize.SPEED);
        code.functions().forEach(TirVerifier::verify);
        int shared = 0;
        for (PrimFunc function : functions) {
            PrimFunc now = code.functions().stream()
                    .filter(each -> each.name().equals(function.name()))
                    .findFirst()
                    .orElseThrow();
            if (!now.equals(function)) {
                Stmt.CallFunction call = (Stmt.CallFunction) now.body();
                PrimFunc whole = code.functions().stream()
                        .filter(each -> each.name().equals(call.function()))
                        .findFirst()
                        .orElseThrow();
                String text = text(whole);
                for (int i = function.scalars().size(); i < whole.scalars().size(); i++) {
                    text = text.replaceAll(
                            "\\b" + whole.scalars().get(i).name() + "\\b",
                            named(call.scalars().get(i)).name());
                }
                assertThat(text).isEqualTo(text(function));
                shared++;
            }
        }
        return shared;
    }

    /** The body with names in place of its numbers. */
    private static String text(PrimFunc function) {
        List<Expr> names = new ArrayList<>();
        Numbers.of(function.body()).values().forEach(number -> names.add(named(number)));
        return TirPrinter.print(
                new PrimFunc("", "", List.of(), List.of(), List.of(), Numbers.replace(function.body(), names)));
    }

    private static Expr.Var named(Expr number) {
        return new Expr.Var("bits_" + Long.toHexString(Numbers.bits(number)), number.dtype());
    }

    /** {@code output[i] = ((input[i] + zero) * operand[i] * by) >> shift}. */
    private static PrimFunc scaled(String name, long zero, long by, int shift, int table) {
        BlockBuilder body = new BlockBuilder();
        body.loop("i", ELEMENTS, (block, i) -> {
            Expr value = Exprs.mul(Exprs.add(Exprs.load(INPUT, i), zero), Exprs.load(TABLE, i));
            block.store(OUTPUT, i, Exprs.cast(DType.INT8, Exprs.shr(Exprs.mul(value, by), Exprs.imm(shift))));
        });
        byte[] data = new byte[ELEMENTS];
        Arrays.fill(data, (byte) table);
        return new PrimFunc(
                name,
                "scales",
                List.of(INPUT, OUTPUT),
                List.of(),
                List.of(new Table("table" + table, TABLE, Bytes.wrap(data))),
                body.build());
    }

    private static CodeUnit unit(PrimFunc... functions) {
        return new CodeUnit(new CodeOrigin("m.tflite", Target.parse("c")), "m_lib1", List.of(), List.of(functions));
    }
}
