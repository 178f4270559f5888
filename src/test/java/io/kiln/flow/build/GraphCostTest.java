// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.artifact.ExecutorKind;
import io.kiln.base.elf.ElfFile;
import io.kiln.compile.CallOptions;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.reference.OwnModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the graph executor takes on a Cortex-M4F beside the operators: instructions, RAM and flash. */
final class GraphCostTest extends ArchiveProject {
    private static final long MOST_INSTRUCTIONS_OF_A_NODE = 3000;
    private static final long MOST_RAM_OF_A_NODE = 350;
    private static final long MOST_FLASH = 9 << 10;

    /** Of the runtime's table of functions; microTVM's default. */
    private static final long REGISTRY = 512;

    private static final double MOST_OUTSIDE_OPERATORS = 0.02;

    @Test
    void aNodeTakesLittle() throws IOException {
        assumeRunnable("mps2-an386", "clang");
        BuildSpec spec = SpecDraft.of(
                        new Layout(folder, folder.resolve("out"), "net"),
                        List.of(new ModelSource(OwnModel.KEYWORDS.model(), "default")),
                        "mps2-an386")
                .toolchain(Optional.of("clang"))
                .calls(CallOptions.TYPED.with(ExecutorKind.GRAPH, true))
                .verify(new VerifySpec(VerifyOn.NONE, Optional.empty(), 0, 0))
                .build();
        flow.build(spec, DeviceSpec.USUAL);
        flow.profile(spec);

        JsonNode profile = json("kiln/profile.json");
        JsonNode report = json("kiln/report.json");
        JsonNode metadata = json("generated-sources/kiln/metadata.json").at("/modules/default/memory");
        long nodes = new ObjectMapper()
                .readTree(text("generated-sources/kiln/executor-config/graph/default.graph"))
                .get("nodes")
                .size();
        long total = profile.path("instructions").asLong();
        long operators = sum(profile.path("operators"), "instructions");
        assertThat(total - operators).as("instructions outside operators").isPositive();
        assertThat((total - operators) / profile.path("operators").size())
                .as("instructions of a node")
                .isLessThanOrEqualTo(MOST_INSTRUCTIONS_OF_A_NODE);
        assertThat((double) (total - operators)).isLessThan(MOST_OUTSIDE_OPERATORS * total);

        long beside = report.at("/ram/workspace").asLong() - tensors(metadata) - scratch(metadata) - REGISTRY;
        assertThat(beside).isPositive();
        assertThat(beside / nodes).as("RAM of a node").isLessThanOrEqualTo(MOST_RAM_OF_A_NODE);

        assertThat(flash()).as("flash of executor and JSON reader").isPositive().isLessThanOrEqualTo(MOST_FLASH);
    }

    private static long tensors(JsonNode memory) {
        long tensors = 0;
        for (JsonNode storage : memory.path("sids")) {
            tensors += storage.has("input_binding")
                    ? 0
                    : storage.path("size_bytes").asLong();
        }
        return tensors;
    }

    private static long scratch(JsonNode memory) {
        long scratch = 0;
        for (JsonNode operator : memory.at("/functions/operator_functions")) {
            JsonNode workspace = operator.path("workspace").get(0);
            scratch = Math.max(scratch, workspace.path("workspace_size_bytes").asLong());
        }
        return scratch;
    }

    private static long sum(JsonNode items, String key) {
        long sum = 0;
        for (JsonNode item : items) {
            sum += item.path(key).asLong();
        }
        return sum;
    }

    /** Code and constants of the objects, before the linker drops what nobody calls. */
    private long flash() throws IOException {
        try (Stream<Path> files = Files.walk(folder.resolve("out"))) {
            return files.filter(file ->
                            file.toString().endsWith(".o") && file.getParent().endsWith("graph_executor"))
                    .map(ElfFile::read)
                    .flatMap(object -> object.sections().stream())
                    .filter(section ->
                            section.name().startsWith(".text") || section.name().startsWith(".rodata"))
                    .mapToLong(ElfFile.Section::size)
                    .sum();
        }
    }
}
