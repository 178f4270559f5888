// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.mlperf;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.WholeFiles;
import io.kiln.device.mlperf.MlperfDevice;
import io.kiln.device.mlperf.MlperfDevice.Inference;
import io.kiln.preprocess.Recording;
import io.kiln.report.Json;
import io.kiln.report.MlperfReport.Streaming;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Measures how a device hears a word in recordings. Each lies in a folder as {@code <name>.wav}, beside {@code <name>_ww_windows.json} with the
 * start and the end of each word in seconds. A word is heard if a detection lies between its start and two seconds behind its end. Other
 * detections are false; those within a second count once.
 */
final class WakeWords {
    private static final int SAMPLE_RATE = 16000;
    private static final int CHUNK = 512;
    private static final double SECONDS_OF_CHUNK = (double) CHUNK / SAMPLE_RATE;

    /** The value of the word's int8 output above which it is heard. */
    private static final int HEARD = 115;

    private static final double LATE = 2;
    private static final double TOGETHER = 1;

    private static final int MOST_RECORDINGS = 1000;
    private static final int MOST_WORDS = 10_000;
    private static final String SOUND = ".wav";
    private static final String WORDS = "_ww_windows.json";

    private final MlperfDevice device;
    private Score score = new Score(0, 0, 0);
    private int frames;
    private long busy;

    private WakeWords(MlperfDevice device) {
        this.device = device;
    }

    /**
     * Plays the recordings of a folder, or of the one in it that is named like the benchmark, to a device.
     *
     * @throws KilnException if there are none, or they cannot be used
     */
    static Streaming measure(MlperfDevice device, Path data, String benchmark) {
        Path inner = data.resolve(benchmark);
        List<Path> recordings = recordings(Files.isDirectory(inner) ? inner : data);
        WakeWords heard = new WakeWords(device);
        recordings.forEach(heard::play);
        double one = heard.busy / 1e6 / heard.frames;
        return new Streaming(
                recordings.size(),
                heard.score.words,
                heard.score.misses,
                heard.score.falseAlarms,
                heard.frames,
                one / SECONDS_OF_CHUNK,
                one == 0 ? 0 : 1 / one);
    }

    private static List<Path> recordings(Path folder) {
        List<Path> found = WholeFiles.list(folder).stream()
                .filter(file -> file.toString().endsWith(SOUND))
                .limit(MOST_RECORDINGS)
                .toList();
        if (found.isEmpty()) {
            throw Failure.SAMPLES.exception("there are no recordings", folder.toString(), "files *" + SOUND);
        }
        return found;
    }

    private void play(Path recording) {
        double[][] windows = windows(recording);
        byte[] sound = Recording.read(recording, SAMPLE_RATE).toArray();
        List<Double> answers = new ArrayList<>();
        List<Double> detections = new ArrayList<>();
        device.start();
        for (int from = 0; from + 2 * CHUNK <= sound.length; from += 2 * CHUNK) {
            Inference answer = device.hear(Arrays.copyOfRange(sound, from, from + 2 * CHUNK));
            if (answer.results().get(0) > HEARD) {
                detections.add(answers.size() * SECONDS_OF_CHUNK);
            }
            answers.add(answer.results().get(0));
            busy += answer.elapsed();
        }
        List<Double> kept = device.stop();
        if (answers.isEmpty()
                || !answers.subList(answers.size() - kept.size(), answers.size())
                        .equals(kept)) {
            throw Failure.RUN.exception(
                    "the device gives other answers when it stops than while it listens",
                    recording.toString(),
                    answers.size() + " answers, of which it has kept the last ones",
                    "See log.txt");
        }
        frames += answers.size();
        score = score.plus(score(detections, windows));
    }

    private static double[][] windows(Path recording) {
        String name = recording.getFileName().toString();
        Path file = recording.resolveSibling(name.substring(0, name.length() - SOUND.length()) + WORDS);
        double[][] windows = Json.read(file, double[][].class);
        boolean areSound = windows.length <= MOST_WORDS
                && Arrays.stream(windows).allMatch(each -> each != null && each.length == 2 && each[0] <= each[1]);
        if (!areSound) {
            throw Failure.SAMPLES.exception("this lists no words", file.toString(), "[[start, end], ...] in seconds");
        }
        return windows;
    }

    /**
     * How right detections are.
     *
     * @param words that there were
     * @param misses words that were not heard
     * @param falseAlarms detections where there was none
     */
    record Score(int words, int misses, int falseAlarms) {
        Score plus(Score other) {
            return new Score(words + other.words, misses + other.misses, falseAlarms + other.falseAlarms);
        }
    }

    /** The score of one recording, by seconds of detections and of words. */
    static Score score(List<Double> detections, double[][] windows) {
        int misses = 0;
        int falseAlarms = 0;
        for (double[] window : windows) {
            misses += detections.stream().noneMatch(at -> isIn(window, at)) ? 1 : 0;
        }
        double last = Double.NEGATIVE_INFINITY;
        for (double at : detections) {
            if (Arrays.stream(windows).noneMatch(window -> isIn(window, at)) && at - last > TOGETHER) {
                falseAlarms++;
                last = at;
            }
        }
        return new Score(windows.length, misses, falseAlarms);
    }

    private static boolean isIn(double[] window, double at) {
        return at >= window[0] && at <= window[1] + LATE;
    }
}
