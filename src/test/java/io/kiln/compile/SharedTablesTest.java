// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.codegen.CodeUnit;
import io.kiln.codegen.CodeUnit.CodeOrigin;
import io.kiln.compile.SharedFunctions.SharedTables;
import io.kiln.frontend.tflite.SeededNet;
import io.kiln.frontend.tflite.SeededNet.Value;
import io.kiln.target.Target;
import io.kiln.target.TestTargets;
import io.kiln.tir.Buffer;
import io.kiln.tir.PrimFunc;
import io.kiln.tir.PrimFunc.Table;
import io.kiln.tir.Stmt;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tables of the same content are in a file once, and so are those that others begin with. */
class SharedTablesTest {
    @Test
    void equalTablesAndBeginningsAreThoseOfTheLongest() {
        CodeUnit code =
                unit(table("a", DType.INT8, 64, 1), table("b", DType.INT8, 100, 1), table("c", DType.INT8, 100, 1));
        List<Table> shared = tables(SharedTables.within(code));
        assertThat(shared).extracting(Table::symbol).containsOnly("c_table");
        assertThat(shared).extracting(table -> table.data().size()).containsOnly(100);
        assertThat(shared)
                .as("operators read as many elements as before")
                .extracting(table -> table.buffer().elements())
                .containsExactly(64L, 100L, 100L);
        assertThat(SharedTables.savedBytes(SharedTables.within(code))).isEqualTo(164);
    }

    @Test
    void othersStay() {
        CodeUnit code = unit(
                table("a", DType.INT8, 63, 1),
                table("b", DType.INT8, 63, 1),
                table("c", DType.INT8, 64, 2),
                table("d", DType.UINT8, 64, 2),
                table("e", DType.INT8, 96, 3));
        PrimFunc other = code.functions().get(4).named("f").withTablesIn("fast");
        List<PrimFunc> all = new ArrayList<>(code.functions());
        all.add(other.withTables(table -> new Table("f_table", table.buffer(), table.data(), "", table.pool(), false)));
        CodeUnit whole = code.withFunctions(all);
        assertThat(SharedTables.within(whole)).isEqualTo(whole);
        assertThat(SharedTables.savedBytes(whole)).isZero();
    }

    /** Rows of padding above the first and below the last row differ in their length only. */
    @Test
    void aModelHoldsEachContentOnce(@TempDir Path folder) throws IOException {
        SeededNet net = new SeededNet(1);
        Value input = net.input("picture", 0.02, 3, 1, 16, 16, 8);
        Value first = net.depthwise(input, 1);
        Value last = net.depthwise(net.depthwise(first, 2), 1);
        Path model = Files.write(folder.resolve("depths.tflite"), net.build(last, input));
        CompiledModel compiled = ModelCompiler.compile(
                RequestDraft.of(model, TestTargets.M4).name("depths").build());
        List<String> operators =
                compiled.module().functions().stream().map(PrimFunc::name).toList();
        List<Table> all = tables(compiled.code()
                .withFunctions(compiled.code().functions().stream()
                        .filter(function -> operators.contains(function.name()))
                        .toList()));
        Map<String, Bytes> distinct = new HashMap<>();
        all.forEach(table -> distinct.put(table.symbol(), table.data()));
        assertThat(distinct.values()).doesNotHaveDuplicates();
        assertThat(distinct).hasSizeLessThan(all.size());
        assertThat(compiled.library().metadata().constantBytes())
                .isEqualTo(distinct.values().stream().mapToLong(Bytes::size).sum())
                .isLessThan(compiled.module().constantBytes());
    }

    private static List<Table> tables(CodeUnit code) {
        return code.functions().stream()
                .flatMap(function -> function.constants().stream())
                .toList();
    }

    private static CodeUnit unit(Table... tables) {
        return new CodeUnit(
                new CodeOrigin("m.tflite", Target.parse("c")),
                "m_lib1",
                List.of(),
                Arrays.stream(tables)
                        .map(table -> new PrimFunc(
                                table.symbol().substring(0, 1),
                                "",
                                List.of(),
                                List.of(),
                                List.of(table),
                                new Stmt.Block(List.of())))
                        .toList());
    }

    private static Table table(String function, DType dtype, int size, int value) {
        byte[] data = new byte[size];
        Arrays.fill(data, (byte) value);
        return new Table(
                function + "_table", new Buffer("table", dtype, size, Buffer.Scope.CONSTANT), Bytes.wrap(data));
    }
}
