// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.ExecutorKind;
import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.base.elf.ElfFile;
import io.kiln.compile.CallOptions;
import io.kiln.flow.Flow;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.resolve.Resolver;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.reference.OwnModel;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An operator that computes something else than it should is named, and no other. */
final class CompareLayersTest {
    @TempDir
    Path folder;

    private final KeptLog log = new KeptLog();
    private final Flow flow = new Flow(log, TestToolchains.environment(log));

    @Test
    void theFirstWrongOperatorIsNamed() throws IOException {
        BuildSpec spec = spec().application("rpc")
                .calls(CallOptions.TYPED.with(ExecutorKind.GRAPH, true))
                .build();
        flow.compareLayers(spec);
        assertThat(log.said())
                .anyMatch(line -> line.startsWith("Model default: all ")
                        && line.endsWith(" values of 12 operators are those of the reference interpreter"));

        // As a flash would be that lost bits of a weight: one table of the sixth operator of twelve.
        String sixth = operator(Files.readString(folder.resolve("out/firmware/codegen/host/src/default_lib1.c")), 6);
        damage(folder.resolve("out/net.elf"), sixth);
        ResolvedBuild build = new Resolver(TestToolchains.environment(log)).resolve(spec);
        assertThatThrownBy(() -> new CompareLayersStep(log, build, TestToolchains.environment(log)).run())
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the first wrong operator: ")
                .hasMessageContaining("] is ")
                .hasMessageContaining(" instead of ")
                .hasMessageContaining(" of 8000 values are wrong")
                .hasMessageContaining(sixth + " (#");
    }

    @Test
    void itNeedsAnImageThatCanBeDrivenOperatorByOperator() {
        BuildSpec spec = spec().build();
        assertThatThrownBy(() -> flow.compareLayers(spec))
                .hasMessageContaining("Set -Dkiln.executor=graph -Dkiln.application=rpc");
    }

    /** Changes the weights of an operator in the image: its largest table. */
    private static void damage(Path image, String operator) throws IOException {
        ElfFile elf = ElfFile.read(image);
        ElfFile.Symbol table = elf.symbols().stream()
                .filter(symbol -> symbol.isObject() && symbol.name().startsWith(operator + "_"))
                .max(Comparator.comparingLong(ElfFile.Symbol::size))
                .orElseThrow();
        ElfFile.Section section = elf.sections().get(table.section());
        byte[] all = Files.readAllBytes(image);
        int first = (int) (section.offset() + table.value() - section.address());
        for (int i = first; i < first + table.size() / 2; i++) {
            all[i] ^= 0x55;
        }
        Files.write(image, all);
    }

    private static String operator(String text, int number) {
        List<String> names = text.lines()
                .filter(line -> line.startsWith("TVM_DLL int32_t ") && line.endsWith("{"))
                .map(line -> line.substring("TVM_DLL int32_t ".length(), line.indexOf('(')))
                .toList();
        return names.get(number - 1);
    }

    private SpecDraft spec() {
        return SpecDraft.of(
                        new Layout(folder, folder.resolve("out"), "net"),
                        List.of(new ModelSource(OwnModel.KEYWORDS.model(), "default")),
                        "mps2-an386")
                .toolchain(Optional.of("clang"));
    }
}
