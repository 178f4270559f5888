// SPDX-License-Identifier: Apache-2.0
package io.kiln.preprocess;

import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.KilnException;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Pipelines of every kind, with inputs that they fill. */
final class RandomPipelines {
    private static final DType[] TYPES = {DType.INT8, DType.UINT8, DType.INT16};

    private final Random random;

    RandomPipelines(long seed) {
        this.random = new Random(seed);
    }

    /**
     * A pipeline and the input of a model.
     *
     * @param yaml the file
     */
    record Drawn(String yaml, AudioPipeline pipeline, TensorInfo input) {
        PreprocessPlan plan() {
            return PreprocessPlanner.plan(pipeline, input);
        }
    }

    /** The next one; those that the reader refuses are drawn again. */
    Drawn next() {
        while (true) {
            String yaml = yaml();
            Optional<AudioPipeline> pipeline = read(yaml);
            if (pipeline.isPresent()) {
                int frames = 1 + random.nextInt(5);
                DType dtype = TYPES[random.nextInt(TYPES.length)];
                float scale = (float) Math.pow(10, -3 + 3 * random.nextDouble());
                int zero = dtype == DType.INT16
                        ? 0
                        : dtype == DType.INT8 ? random.nextInt(256) - 128 : random.nextInt(256);
                List<Integer> shape = List.of(1, frames, pipeline.get().features());
                TensorInfo input = new TensorInfo("features", "features", dtype, shape, scale, zero);
                if (PreprocessPlanner.fits(pipeline.get(), input)) {
                    return new Drawn(yaml, pipeline.get(), input);
                }
            }
        }
    }

    private static Optional<AudioPipeline> read(String yaml) {
        try {
            return Optional.of(
                    Preprocessing.parse("drawn.yaml", Bytes.ofText(yaml)).pipeline());
        } catch (KilnException e) {
            return Optional.empty();
        }
    }

    private String yaml() {
        int rate = pick(8000, 16000, 22050, 44100);
        int fft = pick(16, 64, 256, 512, 1024);
        int window = random.nextBoolean() ? fft : Math.max(8, fft - random.nextInt(fft / 2));
        StringBuilder yaml = new StringBuilder("schema: 1\nsampleRate: " + rate + "\nframes:\n  window: " + window
                + "\n  hop: " + (1 + random.nextInt(window * 5 / 4)) + "\n  shape: "
                + pick("hann", "hamming", "rectangular") + "\n");
        if (random.nextInt(3) == 0) {
            yaml.append("  preEmphasis: ").append(pick("0.97", "0.9", "0.9999")).append('\n');
        }
        yaml.append("spectrum: {fft: ")
                .append(fft)
                .append(", of: ")
                .append(pick("power", "magnitude"))
                .append("}\n");
        int channels = 1 + random.nextInt(40);
        boolean hasMel = random.nextInt(5) > 0;
        if (hasMel) {
            yaml.append(mel(rate, channels));
        }
        boolean hasLog = random.nextInt(4) > 0;
        if (hasLog) {
            yaml.append(log());
        }
        if (hasLog && hasMel && random.nextInt(3) == 0) {
            int coefficients = 1 + random.nextInt(channels);
            yaml.append("dct: {coefficients: ")
                    .append(coefficients)
                    .append(", norm: ")
                    .append(pick("ortho", "htk"))
                    .append("}\n");
            channels = coefficients;
        }
        if (random.nextInt(3) == 0) {
            yaml.append(normalize(hasMel, channels));
        }
        return yaml.toString();
    }

    private String mel(int rate, int channels) {
        return "mel: {channels: " + channels
                + ", lower: " + random.nextInt(300)
                + ", upper: " + (rate / 2 - random.nextInt(rate / 8))
                + ", scale: " + pick("htk", "slaney")
                + ", triangles: " + pick("hz", "mel")
                + ", norm: " + pick("none", "slaney")
                + "}\n";
    }

    private String log() {
        return "log: {base: " + pick("e", "2", "10")
                + ", scale: " + pick("1", "10", "20")
                + pick("", ", offset: 1e-6", ", floor: 1.0e-10")
                + "}\n";
    }

    private String normalize(boolean hasMel, int channels) {
        boolean isList = hasMel && random.nextBoolean();
        return "normalize: {mean: " + (isList ? list(channels, -20) : "-4.5")
                + ", scale: " + (isList ? list(channels, 0.05) : "0.5")
                + "}\n";
    }

    private String list(int count, double centre) {
        return IntStream.range(0, count)
                .mapToObj(i -> String.valueOf(centre * (0.5 + random.nextInt(100) / 100.0)))
                .collect(Collectors.joining(", ", "[", "]"));
    }

    private int pick(int... values) {
        return values[random.nextInt(values.length)];
    }

    private String pick(String... values) {
        return values[random.nextInt(values.length)];
    }
}
