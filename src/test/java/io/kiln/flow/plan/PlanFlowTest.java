// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Digests;
import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.device.flash.TestOpenOcd;
import io.kiln.docs.DocBlock;
import io.kiln.farm.FarmTerms;
import io.kiln.farm.broker.FarmBroker;
import io.kiln.farm.desk.Labels;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.link.FarmAddress.FarmAccess;
import io.kiln.farm.state.FarmKeeper;
import io.kiln.farm.state.FarmState.FarmUnit;
import io.kiln.farm.worker.Worker;
import io.kiln.farm.worker.WorkerSetup.Identity;
import io.kiln.flow.Flow;
import io.kiln.flow.GestureProject;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.FarmUse;
import io.kiln.flow.spec.WorkerSpec;
import io.kiln.flow.spec.WorkerSpec.Device;
import io.kiln.flow.worker.WorkerStep;
import io.kiln.process.TestPrograms;
import io.kiln.report.PageDocument;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** Test plans with the real compiler and QEMU, and on a farm also with virtual boards that the real OpenOCD flashes. */
final class PlanFlowTest {
    @TempDir
    private Path folder;

    private final KeptLog log = new KeptLog();
    private final Flow flow = new Flow(log, TestToolchains.environment(log));

    @BeforeEach
    void needsAnEmulator() {
        TestPrograms.need("qemu-system-arm");
    }

    private Path plan(String text) throws IOException {
        return Files.writeString(folder.resolve("plan.yaml"), text);
    }

    /** The example's vectors in a folder of the test. */
    private Path vectors(String name) throws IOException {
        Path copy = Files.createDirectories(folder.resolve(name));
        try (Stream<Path> files = Files.list(GestureProject.VECTORS)) {
            for (Path file : files.toList()) {
                Files.copy(file, copy.resolve(file.getFileName()));
            }
        }
        return copy;
    }

    private Worker worker(FarmBroker broker, String name, List<String> emulators, List<Device> boards) {
        return new WorkerStep(
                        log,
                        Boards.builtIn(),
                        new WorkerSpec(
                                broker.address(),
                                new Identity(name, "1.0.0", Labels.NONE),
                                emulators,
                                emulators.isEmpty() ? 0 : 1,
                                boards,
                                new WorkerSpec.Care("openocd", Duration.ofSeconds(60), Optional.empty()),
                                folder.resolve("home")))
                .start();
    }

    private static Device virtual(String probe) {
        return new Device("virtual-stm32f405", probe, Labels.parse("", "silicon=virtual"));
    }

    /** One cell expects something wrong, and one board is nobody's. */
    @Test
    void a_plan_on_a_farm_says_of_every_model_and_board_what_became_of_it() throws Exception {
        TestOpenOcd.get();
        Path wrong = vectors("wrong");
        Files.write(wrong.resolve("output_2.bin"), new byte[] {85, 85, 85, 85});
        Path plan = plan(String.format(
                Locale.ROOT,
                """
                schema: 1
                title: Release
                models:
                  gesture: {file: %1$s, vectors: %2$s}
                  wrong: {file: %1$s, vectors: %3$s}
                runs:
                  - boards: ["mps2-an3*"]
                  - {models: ["g*"], boards: ["virtual-*"], on: board, needs: silicon=virtual, match: units}
                  - {models: [gesture], boards: [stm32f405, "nucleo-*"], on: board, match: any}
                  - {models: [gesture], boards: [nucleo-f446re], on: board, needs: silicon=real, missing: skip}
                """,
                GestureProject.MODEL.toAbsolutePath(),
                GestureProject.VECTORS.toAbsolutePath(),
                wrong));
        FarmAccess member = FarmAccess.by("secret");
        try (FarmBroker broker = FarmBroker.start(
                        folder.resolve("broker"), FarmAddress.parse("tcp://localhost:0", member), log, event -> {});
                FarmKeeper keeper = new FarmKeeper(
                                broker::link, broker.desk(), broker.address().url(), "1.0.0", Clock.systemUTC())
                        .start();
                Worker one = worker(broker, "one", List.of("mps2-an386"), List.of());
                Worker two = worker(broker, "two", List.of(), List.of(virtual("left")));
                Worker three = worker(broker, "three", List.of(), List.of(virtual("right")))) {
            for (int tries = 0; tries < 600 && ready(keeper) < 3; tries++) {
                Thread.sleep(50);
            }
            BuildSpec spec = new GestureProject(folder)
                    .spec("mps2-an386")
                    .farm(Optional.of(new FarmUse(broker.address(), FarmTerms.of(Duration.ofSeconds(60)))))
                    .build();
            assertThatThrownBy(() -> flow.plan(spec, DeviceSpec.USUAL, plan))
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining("wrong on mps2-an386 (emulator): ")
                    .hasMessageContaining("the outputs of the test vector and of the model differ: 4 of 4 differ")
                    .hasMessageContaining("gesture on stm32f405, nucleo-* (board): the farm has no stm32f405, nucleo-*"
                            + " (board) that takes jobs; there are virtual-stm32f405 (board, worker ")
                    .hasMessageNotContaining("gesture on mps2");
            assertThat(one.done() + two.done() + three.done()).isEqualTo(3);
        }
        Map<String, Element> cells = cells();
        assertThat(cells.keySet())
                .containsExactly(
                        "gesture mps2-an386 (emulator)",
                        "gesture nucleo-f446re (board, silicon=real)",
                        "gesture stm32f405, nucleo-* (board)",
                        "gesture virtual-stm32f405 (board three/right)",
                        "gesture virtual-stm32f405 (board two/left)",
                        "wrong mps2-an386 (emulator)");
        assertThat(cells.values().stream().map(PlanFlowTest::result))
                .containsExactly("passed", "skipped", "failure", "passed", "passed", "failure");
        Element flashed = cells.get("gesture virtual-stm32f405 (board two/left)");
        assertThat(property(flashed, "ranOn"))
                .startsWith("virtual-stm32f405, probe left")
                .endsWith("worker two");
        Path elf = folder.resolve("out/kiln/plan/gesture/board/virtual-stm32f405-two-left/gesture.elf");
        assertThat(property(flashed, "sha256")).isEqualTo(Digests.sha256(Files.readAllBytes(elf)));
        assertThat(Double.parseDouble(flashed.getAttribute("time"))).isPositive();
        assertThat(flashed.getElementsByTagName("system-out").item(0).getTextContent())
                .contains("Bit-exact on virtual-stm32f405, probe left");
        pageShows();
        assertThat(log.said()).anyMatch(line -> line.startsWith("Release: 3 passed, 2 failed, 1 skipped; "));
    }

    private static long ready(FarmKeeper keeper) {
        return FarmUnit.of(keeper.state()).stream()
                .filter(unit -> unit.trouble().isEmpty())
                .count();
    }

    private void pageShows() throws Exception {
        Path reports = folder.resolve("out/kiln");
        String page = Files.readString(reports.resolve("plan.html"));
        PageDocument document = PageDocument.of(page);
        assertThat(page).contains("<h1>Release</h1>", "3 passed, 2 failed, 1 skipped.", "4 of 4 differ");
        assertThat(document.texts("a")).containsExactly("passed", "failed", "passed", "passed");
        List<String> links = document.values("a", "href");
        assertThat(links).hasSize(4).contains("plan/wrong/emulator/mps2-an386/plan.log");
        for (String link : links) {
            assertThat(reports.resolve(link)).isNotEmptyFile();
        }
        assertThat(Files.readString(reports.resolve("plan/wrong/emulator/mps2-an386/plan.log")))
                .contains("4 of 4 differ");
    }

    private Map<String, Element> cells() throws Exception {
        NodeList cases = DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(folder.resolve("out/kiln/TEST-kiln-plan.xml").toFile())
                .getElementsByTagName("testcase");
        Map<String, Element> cells = new TreeMap<>();
        for (int i = 0; i < cases.getLength(); i++) {
            Element cell = (Element) cases.item(i);
            cells.put(cell.getAttribute("classname").replace("kiln.plan.", "") + " " + cell.getAttribute("name"), cell);
        }
        return cells;
    }

    private static String result(Element cell) {
        return Stream.of("failure", "skipped")
                .filter(name -> cell.getElementsByTagName(name).getLength() > 0)
                .findFirst()
                .orElse("passed");
    }

    private static String property(Element cell, String name) {
        NodeList properties = cell.getElementsByTagName("property");
        for (int i = 0; i < properties.getLength(); i++) {
            Element property = (Element) properties.item(i);
            if (property.getAttribute("name").equals(name)) {
                return property.getAttribute("value");
            }
        }
        return "";
    }

    /** The example of the page, in the example's project. */
    @Test
    void without_a_farm_emulators_of_this_computer_run_and_boards_are_skipped() throws Exception {
        Path model = folder.resolve("src/main/model/gesture.tflite");
        Files.createDirectories(model.getParent());
        Files.copy(GestureProject.MODEL, model);
        vectors("src/test/vectors");
        DocBlock example = DocBlock.of("yaml").stream()
                .filter(block -> block.page().equals("test-plan.md"))
                .findFirst()
                .orElseThrow();
        BuildSpec spec = new GestureProject(folder).spec("mps2-an386").build();
        flow.plan(spec, DeviceSpec.USUAL, plan(example.text()));
        assertThat(log.said())
                .anyMatch(line -> line.startsWith("gesture on mps2-an386 (emulator): passed, "))
                .anyMatch(line -> line.startsWith("gesture on nrf52840-dk (emulator): passed, "))
                .contains(
                        "gesture on virtual-stm32f405, stm32f405 (board): skipped: boards are used through a farm, and"
                                + " kiln.farm is not set")
                .anyMatch(line -> line.startsWith("Release: 2 passed, 0 failed, 2 skipped; "));
        assertThat(property(cells().get("gesture nrf52840-dk (emulator)"), "ranOn"))
                .contains("mps2-an386");
        log.said().clear();
        flow.plan(spec, DeviceSpec.USUAL, plan(example.text()));
        String again = Files.readString(folder.resolve("out/kiln/plan/gesture/emulator/mps2-an386/plan.log"));
        assertThat(again).as("nothing is built or run twice").doesNotContain("Bit-exact", "Compil");
    }

    @Test
    void a_cell_that_has_no_image_any_more_shows_none() throws Exception {
        Path model = Files.copy(GestureProject.MODEL, folder.resolve("own.tflite"));
        Path plan = plan(String.format(Locale.ROOT, """
            schema: 1
            models:
              gesture: {file: %1$s}
            runs:
              - boards: [mps2-an386]
            """, model.toAbsolutePath()));
        BuildSpec spec = new GestureProject(folder).spec("mps2-an386").build();
        flow.plan(spec, DeviceSpec.USUAL, plan);
        String cell = "gesture mps2-an386 (emulator)";
        assertThat(property(cells().get(cell), "sha256")).isNotEmpty();
        Files.writeString(model, "no model");
        assertThatThrownBy(() -> flow.plan(spec, DeviceSpec.USUAL, plan)).isInstanceOf(KilnException.class);
        assertThat(result(cells().get(cell))).isEqualTo("failure");
        assertThat(property(cells().get(cell), "sha256")).isEmpty();
        assertThat(property(cells().get(cell), "ranOn")).isEmpty();
    }

    /** Where names of files differ in more than case. */
    @Test
    void cells_have_folders_of_their_own() throws Exception {
        Path plan = plan(String.format(Locale.ROOT, """
            schema: 1
            models:
              gesture: {file: %1$s}
              Gesture: {file: %1$s}
            runs:
              - boards: [mps2-an386, mps2-an385]
            """, GestureProject.MODEL.toAbsolutePath()));
        BuildSpec base = new GestureProject(folder).spec("mps2-an386").build();
        List<String> folders = Collections.synchronizedList(new ArrayList<>());
        new PlanStep(
                        log,
                        base,
                        (own, spec) ->
                                folders.add(spec.layout().out().toString().toLowerCase(Locale.ROOT)))
                .run(plan);
        assertThat(folders).hasSize(4).doesNotHaveDuplicates();
    }
}
