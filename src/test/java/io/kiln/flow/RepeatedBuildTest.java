// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.process.TestPrograms;
import io.kiln.report.PageDocument;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a build finds in its folder from the one before it, or from another one. */
final class RepeatedBuildTest {
    @TempDir
    Path folder;

    private final KeptLog log = new KeptLog();
    private final List<String> said = log.said();
    private final Flow flow = new Flow(log, TestToolchains.environment(log));

    @BeforeEach
    void needsAnEmulator() {
        TestPrograms.need("qemu-system-arm");
    }

    @Test
    void theSecondBuildDoesNothingAndSaysSo() {
        flow.build(spec(1), DeviceSpec.USUAL);
        said.clear();
        flow.build(spec(1), DeviceSpec.USUAL);
        assertThat(said).filteredOn(line -> line.contains("othing changed")).hasSize(4);
        assertThat(said).noneMatch(line -> line.startsWith("Compiling") || line.startsWith("Linked"));
    }

    @Test
    void whatWasCountedStaysWhileTheImageDoes() throws IOException {
        flow.build(spec(2), DeviceSpec.USUAL);
        flow.profile(spec(2));
        JsonNode report = json("kiln/report.json");
        String page = text("kiln/index.html");
        flow.build(spec(2), DeviceSpec.USUAL);
        assertThat(json("kiln/report.json")).isEqualTo(report);
        assertThat(text("kiln/index.html")).isEqualTo(page);
        Files.delete(folder.resolve("out/gesture.elf"));
        flow.build(spec(2), DeviceSpec.USUAL);
        assertThat(json("kiln/report.json").findValues("instructions")).allMatch(JsonNode::isNull);
        assertThat(folder.resolve("out/kiln/profile.json")).doesNotExist();
        assertThat(PageDocument.of(text("kiln/index.html")).texts("b"))
                .startsWith("Bit-exact")
                .contains("–");
    }

    /** Another build in the same folder, between two goals of this one. */
    @Test
    void whatAnotherBuildLeftInTheFolderIsNotTakenForThisOnes() {
        BuildSpec mine = spec(1);
        BuildSpec others = SpecDraft.of(mine).optimize("size").build();
        flow.generate(mine);
        flow.link(mine);
        flow.generate(others);
        assertThatThrownBy(() -> flow.link(mine))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining(
                        "the generated C belongs to another build: spec.compiler.options.optimize changed from 'size' to"
                                + " 'speed'");
        flow.link(others);
        flow.generate(mine);
        assertThatThrownBy(() -> flow.verify(mine, DeviceSpec.USUAL))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the image belongs to another build: ");
        flow.link(mine);
        flow.verify(mine, DeviceSpec.USUAL);
    }

    private BuildSpec spec(int samples) {
        return new GestureProject(folder)
                .spec("mps2-an386")
                .verify(new VerifySpec(VerifyOn.EMULATOR, Optional.of(GestureProject.VECTORS), samples, 0))
                .build();
    }

    private String text(String file) throws IOException {
        return new GestureProject(folder).text(file);
    }

    private JsonNode json(String file) throws IOException {
        return new GestureProject(folder).json(file);
    }
}
