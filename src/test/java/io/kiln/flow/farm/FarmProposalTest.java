// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.farm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.farm.FarmKeys;
import io.kiln.farm.FarmTerms;
import io.kiln.farm.broker.FarmBroker;
import io.kiln.farm.desk.Labels;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.link.FarmAddress.FarmAccess;
import io.kiln.farm.worker.Worker;
import io.kiln.farm.worker.WorkerSetup.Identity;
import io.kiln.flow.Flow;
import io.kiln.flow.GestureProject;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.FarmUse;
import io.kiln.flow.spec.TuneSpec;
import io.kiln.flow.spec.TuneSpec.Limits;
import io.kiln.flow.spec.TuneSpec.RecordsSpec;
import io.kiln.flow.spec.WorkerSpec;
import io.kiln.flow.worker.WorkerStep;
import io.kiln.process.TestPrograms;
import io.kiln.report.Json;
import io.kiln.report.JsonSchemas;
import io.kiln.report.TuneReport.ProposalReport;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.TestToolchains;
import io.kiln.tuning.record.RecordReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A team's nightly search: what it proposes, at home and through a farm with TLS. */
final class FarmProposalTest {
    @TempDir
    private Path folder;

    private final KeptLog log = new KeptLog();
    private final Flow flow = new Flow(log, TestToolchains.environment(log));

    @BeforeEach
    void needsAnEmulator() {
        TestPrograms.need("qemu-system-arm");
    }

    private BuildSpec spec(String project, Optional<FarmUse> farm) {
        return new GestureProject(folder.resolve(project))
                .spec("mps2-an386")
                .verify(new VerifySpec(VerifyOn.EMULATOR, Optional.empty(), 2, 0))
                .farm(farm)
                .build();
    }

    private static TuneSpec search(String objective, Path file) {
        return TuneSpec.of("random", Optional.of(objective), new Limits(3, 0, 60, 0), 3, List.of(), false)
                .proposing(file);
    }

    private static List<String> records(Path file) throws IOException {
        return RecordReader.read(file).records().stream()
                .map(record -> record.task() + " " + record.config() + " "
                        + record.result().mean())
                .toList();
    }

    @Test
    void a_farm_with_tls_proposes_what_a_search_at_home_does() throws Exception {
        FarmKeys keys = FarmKeys.make(Files.createDirectory(folder.resolve("keys")));
        FarmAccess ofBroker = keys.access("broker", "members", Optional.empty());
        FarmAccess ofMember = keys.access("member", "brokers", Optional.empty());
        Path near = folder.resolve("team/near.log");
        Path far = folder.resolve("team/far.log");
        try (FarmBroker broker = FarmBroker.start(
                folder.resolve("farm"), FarmAddress.parse("tls://localhost:0", ofBroker), Log.QUIET, event -> {})) {
            FarmAddress farm = FarmAddress.parse(broker.address().url(), ofMember);
            WorkerSpec offer = new WorkerSpec(
                    farm,
                    new Identity("w", "1.0.0", Labels.NONE),
                    List.of("mps2-an386"),
                    2,
                    List.of(),
                    WorkerSpec.Care.USUAL,
                    folder.resolve("home"));
            try (Worker worker = new WorkerStep(Log.QUIET, Boards.builtIn(), offer).start()) {
                FarmUse use = new FarmUse(farm, FarmTerms.of(Duration.ofSeconds(60)));
                flow.tune(spec("project", Optional.of(use)), search("instructions", far), Optional.empty());
                assertThat(worker.done()).isPositive();
            }
        }
        flow.tune(spec("project", Optional.empty()), search("instructions", near), Optional.empty());
        assertThat(far).as(String.join("\n", log.said())).exists();
        assertThat(records(far)).isNotEmpty().isEqualTo(records(near));
        String gains = Files.readString(folder.resolve("team/far.json"));
        JsonSchemas.assertFits("proposal", gains);
        assertThat(gains).isEqualTo(Files.readString(folder.resolve("team/near.json")));
        gains(near);
        again(near);
    }

    /** The project's own log is not touched, and the gain is that of a build which follows the proposal. */
    private void gains(Path file) throws IOException {
        assertThat(folder.resolve("project/src/main/tuning")).doesNotExist();
        ProposalReport.Model gain = Json.read(folder.resolve("team/near.json"), ProposalReport.class)
                .models()
                .get(0);
        assertThat(gain.records()).isEqualTo(records(file).size());
        assertThat(gain.gain()).isPositive();
        assertThat(gain.after().ram()).isLessThanOrEqualTo(gain.before().ram());
        assertThat(Files.readString(folder.resolve("team/near.md")))
                .contains("| project | gesture | mps2-an386 | instructions | ")
                .contains(" → ");
        BuildSpec spec = spec("followed", Optional.empty());
        RecordsSpec records = RecordsSpec.of(Optional.of(file), List.of(), Optional.of("instructions"));
        BuildSpec following = spec.with(spec.compiler().with(records));
        flow.build(following, DeviceSpec.USUAL);
        flow.profile(following);
        assertThat(new GestureProject(folder.resolve("followed"))
                        .json("kiln/profile.json")
                        .path("instructions")
                        .asLong())
                .isEqualTo(gain.after().instructions());
    }

    /** What was proposed is what is there: the same search finds nothing better, and the log stays as it is. */
    private void again(Path file) throws IOException {
        String before = Files.readString(file);
        flow.tune(spec("project", Optional.empty()), search("instructions", file), Optional.empty());
        assertThat(Files.readString(file)).isEqualTo(before);
        assertThat(log.said()).contains("Nothing to propose: no model gains, and " + file + " stays as it was");
        assertThat(Json.read(folder.resolve("team/near.json"), ProposalReport.class)
                        .models())
                .isEmpty();
    }

    @Test
    void a_proposal_needs_a_log_and_an_objective_of_whole_models() {
        BuildSpec spec = spec("refused", Optional.empty());
        assertThatThrownBy(() -> flow.tune(spec, search("cycles", folder.resolve("records.txt")), Optional.empty()))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("a file whose name ends in .log");
        assertThatThrownBy(() -> flow.tune(spec, search("time", folder.resolve("a.log")), Optional.empty()))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("an objective that the emulator tells of whole models");
    }
}
