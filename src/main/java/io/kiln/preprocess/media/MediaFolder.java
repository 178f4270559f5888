// SPDX-License-Identifier: Apache-2.0
package io.kiln.preprocess.media;

import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.preprocess.Preprocessing;
import io.kiln.preprocess.media.SampleForms.SampleFormsReader;
import io.kiln.quantize.sample.SampleReader.OtherSamples;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Pictures and recordings in a folder, or in folders of it, one for each class. {@link #FORMS} in the folder says how they become the model's
 * input; recordings need none if the model has a description of signal processing.
 *
 * @param preprocessing the signal processing before the model
 */
public record MediaFolder(Path folder, Optional<Preprocessing> preprocessing) {
    /** The file that describes the samples of a folder. */
    public static final String FORMS = OtherSamples.FORMS;

    private static final Pattern MEDIA = Pattern.compile(".+\\.(?:([pP][nN][gG]|[jJ][pP][eE]?[gG])|[wW][aA][vV])");
    private static final Pattern RECORDING_OF_A_CASE = Pattern.compile("audio_[0-9]+\\.wav");
    private static final int MAX_FILES = 100_000;
    private static final int MAX_FINDINGS = 10;

    /** Most bytes of all inputs together. */
    private static final long MAX_BYTES = 1L << 28;

    /**
     * Reads {@link #FORMS} alone, if the folder has it.
     *
     * @throws KilnException with every mistake in it
     */
    public void check() {
        forms();
    }

    private SampleForms forms() {
        return isDescribed() ? SampleFormsReader.read(folder.resolve(FORMS)) : SampleForms.NONE;
    }

    /** Whether the folder says that its pictures and recordings are inputs. */
    public boolean isDescribed() {
        return Files.isRegularFile(folder.resolve(FORMS));
    }

    /**
     * Its pictures and recordings in the order of their names.
     *
     * @param inputs the model's
     * @return empty if it has none
     * @throws KilnException with the first of them that cannot be used, or if there is no description of them
     */
    public List<MediaSample> read(List<TensorInfo> inputs) {
        SortedMap<String, Path> files = files();
        if (files.isEmpty()) {
            return List.of();
        }
        if (inputs.size() != 1) {
            throw refused("the model has " + inputs.size() + " inputs", "one, which a picture or recording fills");
        }
        if (inputs.get(0).bytes() * files.size() > MAX_BYTES) {
            throw refused(
                    "the inputs of " + files.size() + " samples have more than " + MAX_BYTES / (1 << 20) + " MiB",
                    "100 to 500 samples, which suffice");
        }
        SampleForms forms = forms();
        List<String> classes = files.keySet().stream()
                .filter(name -> name.contains("/"))
                .map(MediaFolder::folderOf)
                .distinct()
                .toList();
        Problems problems = new Problems(Failure.SAMPLES);
        List<MediaSample> samples = new ArrayList<>();
        TensorInput tensor =
                new TensorInput(inputs.get(0), folder.resolve(FORMS).toString());
        files.forEach((name, file) -> {
            if (problems.list().size() < MAX_FINDINGS) {
                problems.collect(() -> samples.add(new MediaSample(
                        name,
                        isPicture(name)
                                ? tensor.picture(file, forms.image())
                                : tensor.recording(file, forms.sound(), preprocessing),
                        name.contains("/") ? Optional.of(classes.indexOf(folderOf(name))) : Optional.empty())));
            }
        });
        problems.throwIfAny();
        return samples;
    }

    private static boolean isPicture(String name) {
        Matcher matcher = MEDIA.matcher(name);
        return matcher.matches() && matcher.group(1) != null;
    }

    private static String folderOf(String name) {
        return name.substring(0, name.indexOf('/'));
    }

    /** By name; in folders of the folder too, unless it has such files itself. */
    private SortedMap<String, Path> files() {
        SortedMap<String, Path> files = new TreeMap<>();
        List<Path> entries = entries(folder);
        entries.stream().filter(MediaFolder::isMedia).forEach(file -> files.put(name(file), file));
        if (files.isEmpty()) {
            for (Path inner : entries) {
                if (Files.isDirectory(inner, LinkOption.NOFOLLOW_LINKS)) {
                    entries(inner).stream()
                            .filter(MediaFolder::isMedia)
                            .forEach(file -> files.put(name(inner) + "/" + name(file), file));
                }
            }
        }
        if (files.size() > MAX_FILES) {
            throw refused("there are more than " + MAX_FILES + " samples", "100 to 500, which suffice");
        }
        return files;
    }

    /** Recordings that verification plays to the image are not among the inputs. */
    private static boolean isMedia(Path file) {
        return MEDIA.matcher(name(file)).matches()
                && !RECORDING_OF_A_CASE.matcher(name(file)).matches();
    }

    private static String name(Path file) {
        return String.valueOf(file.getFileName());
    }

    private static List<Path> entries(Path folder) {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.limit(2L * MAX_FILES)
                    .sorted(Comparator.comparing(MediaFolder::name))
                    .toList();
        } catch (IOException e) {
            throw FileFailure.of("cannot list", folder, e);
        }
    }

    private KilnException refused(String what, String expected) {
        return Failure.SAMPLES.exception(what, folder.toString(), expected, "");
    }

    /**
     * A picture or recording as the model's only input.
     *
     * @param name of the file, with {@code /} between it and its folder if it lies in one
     * @param input elements of the input, row-major, little-endian
     * @param label number of the folder that it lies in, in the order of the names; empty if it lies in none
     */
    public record MediaSample(String name, Bytes input, Optional<Integer> label) {}
}
