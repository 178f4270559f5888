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
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.verify.TestCases.TestCase;
import io.kiln.frontend.TfliteRounding;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.op.call.CustomCall;
import io.kiln.preprocess.ModelPreprocessing;
import io.kiln.preprocess.Recording;
import io.kiln.preprocess.media.MediaFolder;
import io.kiln.reference.Interpreter;
import io.kiln.report.VerifyReport.Tolerance;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.regex.Pattern;

/**
 * The cases of one model with their expected answers: from the reference interpreter, or, for a model that it cannot
 * run, from the test vectors.
 *
 * @param cases the inputs
 * @param expected the expected outputs, one entry for each case
 */
public record VerificationCases(ModelMetadata model, List<TestCase> cases, List<List<Bytes>> expected) {
    public VerificationCases {
        cases = List.copyOf(cases);
        expected = List.copyOf(expected);
    }

    /**
     * Reads vectors, makes random cases and computes the expected answers with the reference interpreter.
     *
     * @param rounded what the image computes
     * @param vectors where test vectors lie, and how many random cases there are
     * @param hears gets a problem if a model calls the user's C, so that only vectors can tell its answers, and there
     * are none
     * @throws io.kiln.base.KilnException if a vector has a wrong size or its outputs are not the reference's
     */
    public static VerificationCases of(ModelMetadata model, RoundedModel rounded, TestVectors vectors, Problems hears) {
        Function function = rounded.function();
        Optional<Binding> opaque = function.opaque();
        if (opaque.isPresent()) {
            return given(model, why(opaque.get()), vectors, hears);
        }
        List<TestCase> cases = new ArrayList<>();
        vectors.given(model.name())
                .filter(f -> !AudioCases.areAlone(f))
                .ifPresent(f -> cases.addAll(GivenCases.of(f, model)));
        long seed = vectors.spec().seed();
        cases.addAll(TestCases.withSpecialFloats(
                TestCases.random(vectors.spec().samples(), seed, model.inputs()),
                seed,
                model.inputs(),
                model.target()));
        List<List<Bytes>> expected = new ArrayList<>();
        GivenOutputs given = new GivenOutputs(model, rounded);
        for (TestCase each : cases) {
            List<Bytes> answer = Interpreter.run(function, each.inputs());
            expected.add(answer);
            given.compare(each, answer);
        }
        given.problems().throwIfAny();
        return new VerificationCases(model, cases, expected);
    }

    private static String why(Binding opaque) {
        return opaque.op() instanceof CustomCall custom
                ? "only the C function " + custom.function() + " knows the results of operator `" + custom.code() + "`"
                : "only an NPU knows the results of " + opaque.origin().text()
                        + ", and kiln.npu.original names no model as it was before Vela";
    }

    /**
     * Reads vectors of a model that the interpreter cannot run; their outputs are the expected answers.
     *
     * @param why why the interpreter cannot run it
     * @param problems gets models without vectors, and vectors without outputs
     */
    static VerificationCases given(ModelMetadata model, String why, TestVectors vectors, Problems problems) {
        Optional<Path> folder = vectors.folder(model.name());
        if (folder.filter(Files::isDirectory).isEmpty()) {
            problems.add(
                    "the expected outputs of model `" + model.name() + "` are unknown: " + why,
                    folder.map(Path::toString).orElse("kiln.verify.vectors"),
                    "test vectors with outputs: input_0.bin and output_0.bin, and so on",
                    "Set kiln.verify.vectors to their folder, or kiln.verify.on to none");
            return new VerificationCases(model, List.of(), List.of());
        }
        List<TestCase> cases = GivenCases.of(folder.get(), model);
        for (TestCase each : cases) {
            if (each.givenOutputs().isEmpty()) {
                problems.add(
                        "the test vector has no outputs, and those of model `" + model.name() + "` cannot be computed: "
                                + why,
                        folder.get() + ", " + each.name(),
                        each.name().replace("vector", "output") + ".bin",
                        "Add it, or delete the vector");
            }
        }
        return new VerificationCases(
                model,
                cases,
                cases.stream()
                        .map(each -> each.givenOutputs().orElse(List.of()))
                        .toList());
    }

    /**
     * Compares the outputs of test vectors with what the reference interpreter computes. Where they differ, a model of TensorFlow Lite is computed
     * with the other library's arithmetic, too: perhaps the vector comes from there.
     */
    private static final class GivenOutputs {
        private final ModelMetadata model;
        private final RoundedModel rounded;
        private final Problems problems = new Problems(Failure.VERIFY);

        /** The model with the other arithmetic, which is read at the first difference. */
        private Optional<Optional<Function>> otherwise = Optional.empty();

        GivenOutputs(ModelMetadata model, RoundedModel rounded) {
            this.model = model;
            this.rounded = rounded;
        }

        /** The differences that were found. */
        Problems problems() {
            return problems;
        }

        /** Compares the outputs of a case, if it has any, with an answer. */
        void compare(TestCase each, List<Bytes> answer) {
            each.givenOutputs().ifPresent(given -> {
                Comparison comparison = Comparison.of(model.outputs(), unlimited(given, answer), answer);
                if (comparison.mismatches() > 0) {
                    report(each, comparison, isExplained(each, given));
                }
            });
        }

        private boolean isExplained(TestCase each, List<Bytes> given) {
            if (otherwise.isEmpty()) {
                otherwise = Optional.of(rounded.otherwise());
            }
            return otherwise
                    .get()
                    .map(function -> Interpreter.run(function, each.inputs()))
                    .filter(answer -> Comparison.of(model.outputs(), unlimited(given, answer), answer)
                                    .mismatches()
                            == 0)
                    .isPresent();
        }

        /**
         * Outputs to compare with an answer. TensorFlow Lite's kernels limit what is infinite to the largest float; such a vector
         * agrees with an infinite answer.
         */
        private List<Bytes> unlimited(List<Bytes> given, List<Bytes> answer) {
            List<Bytes> outputs = new ArrayList<>();
            for (int i = 0; i < given.size(); i++) {
                boolean isFloat = model.outputs().get(i).dtype().isFloat();
                outputs.add(isFloat ? unlimited(given.get(i), answer.get(i)) : given.get(i));
            }
            return outputs;
        }

        private static Bytes unlimited(Bytes given, Bytes answer) {
            ByteBuffer values = ByteBuffer.wrap(given.toArray()).order(ByteOrder.LITTLE_ENDIAN);
            for (int at = 0; at < values.capacity(); at += Float.BYTES) {
                float infinite = answer.buffer().getFloat(at);
                if (Float.isInfinite(infinite) && values.getFloat(at) == Math.copySign(Float.MAX_VALUE, infinite)) {
                    values.putFloat(at, infinite);
                }
            }
            return Bytes.wrap(values.array());
        }

        private void report(TestCase each, Comparison comparison, boolean isExplained) {
            String where = "model " + model.name() + ", " + each.name();
            String difference = comparison.mismatches() + " of " + comparison.outputs() + " differ, at most by "
                    + number(comparison.maxAbsDiff()) + ", first " + comparison.first();
            if (isExplained) {
                String other = setting(rounded.rounding().other());
                problems.add(
                        "the outputs of the test vector are the model's with " + other + ", but this build has "
                                + setting(rounded.rounding()) + ": " + difference,
                        where,
                        "the outputs of " + library(rounded.rounding()),
                        "Set " + other + " to build a model that answers as "
                                + library(rounded.rounding().other()) + ", or make the vector with "
                                + library(rounded.rounding()));
                return;
            }
            boolean hasOther = otherwise.flatMap(other -> other).isPresent();
            problems.add(
                    "the outputs of the test vector and of the model differ: " + difference,
                    where,
                    "the outputs of Kiln's reference interpreter, " + setting(rounded.rounding())
                            + (hasOther
                                    ? "; those with "
                                            + setting(rounded.rounding().other()) + " differ, too"
                                    : ""),
                    "Check that the vector comes from this model and, with TensorFlow Lite, from its reference"
                            + " kernels: other kernels round otherwise, see the page Operators. Without its output file it"
                            + " is an input only");
        }

        private static String setting(TfliteRounding rounding) {
            return TfliteRounding.PROPERTY + "=" + rounding.text();
        }

        private static String library(TfliteRounding rounding) {
            return rounding == TfliteRounding.LITE ? "TensorFlow Lite's reference kernels" : "TensorFlow Lite Micro";
        }

        private static String number(double value) {
            return value == Math.rint(value) && Math.abs(value) < Integer.MAX_VALUE
                    ? Integer.toString((int) value)
                    : Double.toString(value);
        }
    }

    /**
     * The cases in the folder of a model's vectors: tensors, or the pictures and recordings that {@code samples.yaml} describes. Recordings that the
     * image itself turns into features are {@link AudioCases}.
     */
    static final class GivenCases {
        private GivenCases() {}

        /**
         * Reads a folder.
         *
         * @throws io.kiln.base.KilnException naming every file that does not fit the model's inputs and outputs
         */
        static List<TestCase> of(Path folder, ModelMetadata model) {
            MediaFolder media = new MediaFolder(folder, Optional.empty());
            if (!media.isDescribed()) {
                return TestCases.vectors(folder, model.inputs(), model.outputs());
            }
            List<TestCase> cases = media.read(model.inputs()).stream()
                    .map(sample -> new TestCase(sample.name(), List.of(sample.input()), Optional.empty()))
                    .toList();
            if (cases.isEmpty() || TestCases.areIn(folder)) {
                throw Failure.SAMPLES.exception(
                        "the folder has " + MediaFolder.FORMS + ", and "
                                + (cases.isEmpty() ? "no pictures or recordings" : "input_<k>.bin, too"),
                        folder.toString(),
                        "either kind of cases",
                        "Delete what is not wanted");
            }
            return cases;
        }
    }

    /**
     * The cases of a model that begin with audio: recordings from the folder of vectors, {@code audio_<k>.wav} or {@code .bin}, then seeded noise.
     * The expected answer is the reference interpreter's result for the features that the interpreter of the preprocessing computes.
     */
    static final class AudioCases {
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
                    .map(each ->
                            preprocessing.input(Recording.samples(each.inputs().get(0))))
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

    /**
     * Where the test vectors of a build's models lie.
     *
     * @param spec what the user names, and how many cases there are beside the vectors
     * @param sources the models; an archive may have several in one file
     * @param areSeveral whether there are several models, so that the user's vectors lie in a folder for each
     */
    public record TestVectors(VerifySpec spec, List<ModelSource> sources, boolean areSeveral) {
        public TestVectors {
            sources = List.copyOf(sources);
        }

        /** The test vectors of a build's models. */
        public static TestVectors of(BuildSpec build, boolean areSeveral) {
            return new TestVectors(build.verify(), build.models(), areSeveral);
        }

        /**
         * Compares the sizes of a build's vectors with its models' tensors, so that a wrong one is told before the image is compiled.
         *
         * @param models the generated models
         * @throws io.kiln.base.KilnException naming every file whose size is not that of the tensors
         */
        public static void check(BuildSpec build, List<ModelMetadata> models) {
            Problems problems = new Problems(Failure.VERIFY);
            if (build.verify().on() != VerifyOn.NONE) {
                TestVectors vectors = of(build, models.size() > 1);
                models.forEach(model -> vectors.given(model.name())
                        .filter(Files::isDirectory)
                        .ifPresent(folder -> TestCases.checkSizes(folder, model.inputs(), model.outputs(), problems)));
            }
            problems.throwIfAny();
        }

        /** The folder of a model: the user's, or else that which came with the model. Of several models it may not exist. */
        Optional<Path> folder(String model) {
            Optional<Path> named = spec.vectors().map(folder -> of(folder, model));
            return named.filter(folder -> !areSeveral || Files.isDirectory(folder))
                    .or(() -> brought(model))
                    .or(() -> named);
        }

        private Optional<Path> brought(String model) {
            if (sources.size() == 1) {
                return sources.get(0).vectors().map(folder -> of(folder, model));
            }
            return sources.stream()
                    .filter(source -> source.name().equals(model))
                    .findFirst()
                    .flatMap(ModelSource::vectors);
        }

        private Path of(Path folder, String model) {
            return areSeveral ? folder.resolve(model) : folder;
        }

        /** The folder of a model's test vectors; empty if one of several models has none: it has random cases only. */
        Optional<Path> given(String model) {
            return folder(model).filter(folder -> !areSeveral || Files.isDirectory(folder));
        }
    }

    /**
     * Compares the answers of one case with the expected ones.
     *
     * @param outputs number of values compared
     * @param mismatches number of wrong values: integers not equal, floats outside the tolerance
     * @param maxAbsDiff largest absolute difference; {@code Double.MAX_VALUE} where exactly one of the two is NaN
     * @param bitExact whether all bytes are equal
     * @param first the first wrong value for people, empty if there is none
     */
    record Comparison(long outputs, long mismatches, double maxAbsDiff, boolean bitExact, String first) {

        /**
         * Compares all outputs of a case.
         *
         * @param tensors the outputs' types
         * @param actual what was answered, one entry for each tensor
         * @param expected what was expected
         */
        static Comparison of(List<TensorInfo> tensors, List<Bytes> actual, List<Bytes> expected) {
            if (actual.size() != tensors.size() || expected.size() != tensors.size()) {
                throw new IllegalArgumentException("one entry for each output is needed");
            }
            Comparison all = new Comparison(0, 0, 0, true, "");
            for (int i = 0; i < tensors.size(); i++) {
                all = all.plus(one(tensors.get(i), actual.get(i), expected.get(i)));
            }
            return all;
        }

        private Comparison plus(Comparison other) {
            return new Comparison(
                    outputs + other.outputs,
                    mismatches + other.mismatches,
                    Math.max(maxAbsDiff, other.maxAbsDiff),
                    bitExact && other.bitExact,
                    first.isEmpty() ? other.first : first);
        }

        private static Comparison one(TensorInfo tensor, Bytes actual, Bytes expected) {
            if (actual.size() != tensor.bytes() || expected.size() != tensor.bytes()) {
                throw new IllegalArgumentException(tensor.name() + " has " + tensor.bytes() + " bytes, not "
                        + actual.size() + ", " + expected.size());
            }
            DType dtype = tensor.dtype();
            ByteBuffer a = actual.buffer();
            ByteBuffer b = expected.buffer();
            long mismatches = 0;
            double maxAbsDiff = 0;
            String first = "";
            for (int i = 0; i < tensor.elements(); i++) {
                Number got = value(dtype, a);
                Number wanted = value(dtype, b);
                maxAbsDiff = Math.max(maxAbsDiff, difference(got, wanted));
                boolean right = dtype.isFloat()
                        ? Tolerance.FLOAT.accepts(got.doubleValue(), wanted.doubleValue())
                        : got.equals(wanted);
                if (!right) {
                    mismatches++;
                    if (first.isEmpty()) {
                        first = tensor.name() + "[" + i + "] is " + got + " instead of " + wanted;
                    }
                }
            }
            return new Comparison(tensor.elements(), mismatches, maxAbsDiff, actual.equals(expected), first);
        }

        /** The next element, as a Long, a Float, or for uint64 a BigInteger. */
        private static Number value(DType dtype, ByteBuffer buffer) {
            return switch (dtype) {
                case INT8 -> (long) buffer.get();
                case UINT8, BOOL -> (long) Byte.toUnsignedInt(buffer.get());
                case INT16 -> (long) buffer.getShort();
                case INT32 -> (long) buffer.getInt();
                case UINT32 -> Integer.toUnsignedLong(buffer.getInt());
                case INT64 -> buffer.getLong();
                case UINT64 -> new BigInteger(Long.toUnsignedString(buffer.getLong()));
                case FLOAT32 -> buffer.getFloat();
            };
        }

        private static double difference(Number a, Number b) {
            double difference = a.equals(b) ? 0 : Math.abs(a.doubleValue() - b.doubleValue());
            return Double.isFinite(difference) ? difference : Double.MAX_VALUE;
        }
    }
}
