// SPDX-License-Identifier: Apache-2.0
package io.kiln.cycles.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.base.ResourceTree;
import io.kiln.cycles.decode.InstructionKind;
import io.kiln.cycles.decode.InstructionSet;
import io.kiln.toolchain.yaml.YamlDocument;
import io.kiln.toolchain.yaml.YamlDocument.YamlSchema;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every table fits the schema, and each of its numbers has a source. */
final class CoreTablesTest {
    private static final YamlSchema SCHEMA = new YamlSchema("core.schema.json");

    static Stream<String> files() {
        return ResourceTree.read("toolchains/cores").keySet().stream();
    }

    @ParameterizedTest
    @MethodSource("files")
    void aTableFitsTheSchemaAndNamesItsSources(String file) {
        YamlDocument document =
                YamlDocument.parse(file, ResourceTree.read("toolchains/cores").get(file));
        Problems problems = new Problems(Failure.PROFILE);
        SCHEMA.check(document, problems);
        assertThat(problems.list()).isEmpty();
        JsonNode root = document.root();
        assertThat(root.path("id").asText() + ".yaml").isEqualTo(file);
        Set<String> used = new TreeSet<>(root.findValuesAsText("source"));
        Set<String> named = new TreeSet<>();
        root.path("sources").fieldNames().forEachRemaining(named::add);
        assertThat(used).isEqualTo(named);
    }

    @Test
    void theCoresOfTheBoardsHaveTables() {
        assertThat(CoreTables.all().stream().map(CoreTimings::id))
                .contains(
                        "cortex-m0",
                        "cortex-m0plus",
                        "cortex-m3",
                        "cortex-m4",
                        "cortex-m7",
                        "cortex-m33",
                        "cortex-m55",
                        "rv32imac");
        assertThat(CoreTables.find("cortex-m33+nofp")).map(CoreTimings::id).contains("cortex-m33");
        assertThat(CoreTables.find("rv32imf")).isEmpty();
        assertThatThrownBy(() -> CoreTables.require("rv32imf"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("no instruction timings are known of the core \"rv32imf\"")
                .hasMessageContaining("cortex-m4");
    }

    /** Prices that nobody published are called estimates. */
    @ParameterizedTest
    @CsvSource({"cortex-m23", "cortex-m52+nomve", "cortex-m85"})
    void whatIsAnEstimateIsCalledOne(String cpu) {
        assertThat(CoreTables.require(cpu).title()).endsWith(" (estimate)");
        assertThat(CoreTables.all().stream().map(CoreTimings::title).filter(title -> title.contains("estimate")))
                .hasSize(3);
    }

    /** Integer kinds everywhere, floating point on M4 and above, double precision on M7 and M55, vectors on M55. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "cortex-m3",
                "cortex-m4",
                "cortex-m33",
                "cortex-m7",
                "cortex-m23",
                "cortex-m52",
                "cortex-m55",
                "cortex-m85",
                "rv32imac"
            })
    void aTableHasEveryKindThatItsCoreExecutes(String cpu) {
        CoreTimings core = CoreTables.require(cpu);
        Set<InstructionKind> kinds = EnumSet.noneOf(InstructionKind.class);
        kinds.addAll((cpu.startsWith("rv") ? InstructionSet.rv32() : InstructionSet.thumb()).kinds());
        Set<String> rest = kinds.stream()
                .filter(kind -> !core.knows(kind))
                .map(InstructionKind::text)
                .collect(Collectors.toCollection(TreeSet::new));
        List<String> absent = switch (cpu) {
            case "cortex-m3" -> List.of("float-", "double-", "vector-", "loop-");
            case "cortex-m4" -> List.of("float-select", "double-", "vector-", "loop-");
            case "cortex-m33" -> List.of("double-", "vector-", "loop-");
            case "cortex-m7" -> List.of("vector-", "loop-");
            case "cortex-m23" ->
                List.of(
                        "float-",
                        "double-",
                        "vector-",
                        "loop-",
                        "multiply-",
                        "load-pair",
                        "store-pair",
                        "table-",
                        "it");
            default -> List.of();
        };
        assertThat(rest).allMatch(kind -> absent.stream().anyMatch(kind::startsWith));
    }

    @Test
    void anUnknownKindIsNamed() {
        String table = "id: x\nprices: {alu: {cycles: 1}, teleport: {cycles: 1}}\n";
        assertThatThrownBy(() -> CoreTables.parse("x.yaml", Bytes.wrap(table.getBytes(StandardCharsets.UTF_8))))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("there is no kind of instruction \"teleport\"");
    }
}
