// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.Log;
import io.kiln.device.emulator.Emulator;
import io.kiln.device.transport.FirmwareSession;
import io.kiln.process.RunningProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Boots the image and shows what it says: the console of the project's own program, or the model's answers. */
final class RunStep {
    private static final int CASES_SHOWN = 8;

    private final Log log;
    private final ResolvedBuild build;

    RunStep(Log log, ResolvedBuild build) {
        this.log = log;
        this.build = build;
    }

    /** Runs the image until it ends, or has answered, or its time is over. */
    void run(Duration limit) {
        RunnableImage image = RunnableImage.asBuilt(log, build);
        Path file = build.spec().layout().reports().resolve("console.log");
        Emulator emulator = new Emulator(image.board(), limit, Optional.of(file));
        log.info("Booting " + image.file().getFileName() + " on " + RunnableImage.name(build, emulator));
        if (image.hasOwnMain()) {
            console(emulator, image.file(), limit);
        } else {
            answers(emulator, image.file());
        }
    }

    private void console(Emulator emulator, Path image, Duration limit) {
        try (RunningProcess process = emulator.start(image);
                BufferedReader lines =
                        new BufferedReader(new InputStreamReader(process.output(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                log.info("| " + line);
            }
            Optional<Integer> code = process.waitFor(Duration.ofSeconds(2));
            if (process.timedOut()) {
                log.info("Stopped after " + limit.toSeconds() + " s (kiln.run.timeout)");
            } else {
                code.ifPresent(value -> log.info("The image ended with code " + value));
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the console", e);
        }
    }

    private void answers(Emulator emulator, Path image) {
        List<ModelMetadata> models = GenerateStep.store(build.spec().layout()).metadata();
        emulator.talk(image, new ConsoleLines(log), session -> {
            List<FirmwareSession.Model> inImage = session.models();
            for (int m = 0; m < models.size(); m++) {
                for (TestCase each : cases(models.get(m), models.size() > 1)) {
                    List<Bytes> answer = session.run(m, inImage.get(m), each.inputs());
                    log.info(line(models.get(m), each, answer));
                }
            }
            return true;
        });
    }

    /** The test vectors if there are any, else random inputs. */
    private List<TestCase> cases(ModelMetadata model, boolean severalModels) {
        List<TestCase> cases = new ArrayList<>();
        Optional<Path> vectors =
                build.spec().verify().vectors().map(folder -> severalModels ? folder.resolve(model.name()) : folder);
        if (vectors.filter(Files::isDirectory).isPresent()) {
            cases.addAll(TestCases.vectors(vectors.get(), model.inputs(), model.outputs()));
        } else {
            cases.add(TestCases.zero(model.inputs()));
            cases.addAll(TestCases.random(2, build.spec().verify().seed(), model.inputs()));
        }
        return cases.subList(0, Math.min(CASES_SHOWN, cases.size()));
    }

    private static String line(ModelMetadata model, TestCase each, List<Bytes> answer) {
        return model.name() + " " + each.name() + ": " + values(model.inputs(), each.inputs()) + " -> "
                + values(model.outputs(), answer);
    }

    private static String values(List<TensorInfo> tensors, List<Bytes> bytes) {
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < tensors.size(); i++) {
            texts.add(TensorText.of(tensors.get(i), bytes.get(i)));
        }
        return String.join(", ", texts);
    }
}
