// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.Interface;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.flow.verify.TestCases.TestCase;
import io.kiln.ir.Function;
import io.kiln.preprocess.ModelPreprocessing;
import io.kiln.preprocess.Recording;
import io.kiln.reference.Interpreter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.regex.Pattern;

/**
 * The cases of a model that begin with audio: recordings from the folder of vectors, {@code audio_<k>.wav} or {@code .bin}, then seeded noise.
 * The expected answer is the reference interpreter's result for the features that the interpreter of the preprocessing computes.
 */
final class AudioCases {
    private static final Pattern RECORDING = Pattern.compile("audio_(0|[1-9][0-9]{0,8})\\.(?:wav|bin)");

    private AudioCases() {}

    /** The model as the default application runs it on audio. */
    static ModelMetadata metadata(ModelMetadata model, int samples) {
        TensorInfo audio = new TensorInfo("audio", "audio", DType.INT16, List.of(samples), 0, 0);
        Interface api = model.api();
        return new ModelMetadata(
                new InterfaceNames(model.name()).audio(),
                model.target(),
                new Interface(
                        api.executor(), api.convention(), api.io(), List.of(audio), api.outputs(), api.functions()),
                model.memory(),
                model.plan(),
                model.operators());
    }

    /** No cases, for a model whose answers to audio cannot be computed. */
    static VerificationCases none(ModelMetadata model) {
        return new VerificationCases(metadata(model, 0), List.of(), List.of());
    }

    /**
     * Reads recordings, makes noise and computes the expected answers.
     *
     * @param vectors where recordings lie, and how many cases of noise there are
     * @throws KilnException naming every recording that cannot be used
     */
    static VerificationCases of(
            ModelMetadata model, Function function, ModelPreprocessing preprocessing, TestVectors vectors) {
        List<TestCase> cases = new ArrayList<>();
        vectors.folder(model.name())
                .filter(Files::isDirectory)
                .ifPresent(f -> cases.addAll(recordings(f, preprocessing)));
        cases.addAll(noise(vectors.spec().samples(), vectors.spec().seed(), preprocessing.samples()));
        List<List<Bytes>> expected = cases.stream()
                .map(each -> preprocessing.input(Recording.samples(each.inputs().get(0))))
                .map(features -> Interpreter.run(function, List.of(features)))
                .toList();
        return new VerificationCases(metadata(model, preprocessing.samples()), cases, expected);
    }

    /** Whether a folder of vectors has recordings and nothing else, so that there are no vectors of the model's input. */
    static boolean areAlone(Path folder) {
        return !TestCases.numbered(folder, RECORDING).isEmpty() && !TestCases.areIn(folder);
    }

    private static List<TestCase> recordings(Path folder, ModelPreprocessing preprocessing) {
        Problems problems = new Problems(Failure.VERIFY);
        List<TestCase> cases = new ArrayList<>();
        TestCases.numbered(folder, RECORDING)
                .forEach((k, file) -> problems.collect(() -> {
                    Bytes audio = Recording.read(file, preprocessing.sampleRate(), preprocessing.samples());
                    cases.add(new TestCase("audio_" + k, List.of(audio), Optional.empty()));
                }));
        problems.throwIfAny();
        return cases;
    }

    /** Seeded noise, loud and quiet in turn: of all bits, and of 8. */
    private static List<TestCase> noise(int count, long seed, int samples) {
        Random random = new Random(seed);
        List<TestCase> cases = new ArrayList<>();
        for (int k = 0; k < count; k++) {
            short[] audio = new short[samples];
            for (int i = 0; i < samples; i++) {
                audio[i] = (short) ((short) random.nextInt() >> (k % 2 * 8));
            }
            cases.add(new TestCase("noise_" + k, List.of(Recording.bytes(audio)), Optional.empty()));
        }
        return cases;
    }
}
