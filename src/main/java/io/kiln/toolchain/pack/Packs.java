// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.pack;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.NearMiss;
import io.kiln.base.PlainZip;
import io.kiln.base.PlainZip.Kind;
import io.kiln.base.PlainZip.Limits;
import io.kiln.base.WholeFiles;
import io.kiln.toolchain.compiler.ToolchainEnvironment.ArtifactFetcher;
import io.kiln.toolchain.pack.MemoryPlan.Region;
import io.kiln.toolchain.pack.PackReader.PackDescription;
import io.kiln.toolchain.pack.PackReader.PackDescription.Entry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The devices of one CMSIS-Pack, or of all packs in a folder. Nothing of a pack is run. */
public final class Packs {
    private static final int MOST_PACKS = 200;
    private static final int MOST_SHOWN = 20;

    private final Path place;
    private final List<Pack> packs;

    /** One pack: what it says, and its files. */
    record Pack(PackDescription description, PackFiles files) {}

    /** A device and the pack that it is in. */
    record Found(Pack pack, Entry entry) {}

    private Packs(Path place, List<Pack> packs) {
        this.place = place;
        this.packs = List.copyOf(packs);
    }

    /**
     * Reads the descriptions of packs.
     *
     * @param place a pack ({@code .pack}), its description ({@code .pdsc}) alone, the folder of an unpacked one, or a folder of several of these
     * @throws KilnException if there is none, or if one is broken
     */
    public static Packs open(Path place) {
        if (!Files.isDirectory(place)) {
            return new Packs(place, List.of(pack(place)));
        }
        // A pack has more files than its description alone: it comes first, and the other one is left out.
        Map<String, Pack> packs = new LinkedHashMap<>();
        for (Path file : files(place)) {
            Pack pack = pack(file);
            packs.putIfAbsent(pack.description().id(), pack);
        }
        if (packs.isEmpty()) {
            throw refused("there is no CMSIS-Pack in the folder", place, "a .pack, or a folder with a .pdsc");
        }
        return new Packs(place, List.copyOf(packs.values()));
    }

    private static List<Path> files(Path folder) {
        List<Path> sorted =
                WholeFiles.list(folder).stream().filter(Files::isRegularFile).toList();
        List<Path> files = new ArrayList<>();
        sorted.stream().filter(file -> name(file).endsWith(".pack")).forEach(files::add);
        sorted.stream().filter(file -> PackFiles.isDescription(name(file))).forEach(files::add);
        if (files.size() > MOST_PACKS) {
            throw refused("the folder has " + files.size() + " packs", folder, "at most " + MOST_PACKS);
        }
        return files;
    }

    private static String name(Path file) {
        return file.getFileName().toString().toLowerCase(Locale.ROOT);
    }

    private static Pack pack(Path file) {
        if (!Files.isRegularFile(file)) {
            throw refused("there is no such pack", file, "a .pack, a .pdsc, or a folder of an unpacked pack");
        }
        if (PackFiles.isDescription(name(file))) {
            Path folder = file.toAbsolutePath().getParent();
            return new Pack(PackReader.read(file.toString(), PackFiles.content(file)), new PackFiles.Folder(folder));
        }
        PackFiles files = PackFiles.Zip.open(file);
        List<String> descriptions = files.names(name -> name.indexOf('/') < 0 && PackFiles.isDescription(name));
        if (descriptions.size() != 1) {
            throw refused(
                    "the pack has "
                            + (descriptions.isEmpty() ? "no description" : "several descriptions: " + descriptions),
                    file,
                    "one .pdsc at the root of the zip");
        }
        Bytes content = files.read(descriptions.get(0)).orElseThrow();
        return new Pack(PackReader.read(file + "!" + descriptions.get(0), content), files);
    }

    /**
     * The devices that a text matches, for people.
     *
     * @param text all or the beginning of a name, with {@code *} for anything; empty for all devices
     * @throws KilnException with the nearest names if it matches none
     */
    public List<DeviceSummary> list(String text) {
        List<Found> found = matching(text.strip());
        if (found.isEmpty()) {
            throw unknown(text.strip());
        }
        return found.stream().map(DeviceSummary::of).toList();
    }

    private List<Found> all() {
        return packs.stream()
                .flatMap(pack -> pack.description().devices().stream().map(entry -> new Found(pack, entry)))
                .toList();
    }

    /**
     * The devices that a text matches, in the order of the packs. A whole name is preferred to the beginning of one; {@code x} in a device's
     * name is any letter, so that the number of a part that is ordered finds its device.
     *
     * @param text all or the beginning of a name, with {@code *} for anything; empty for all devices
     */
    List<Found> matching(String text) {
        String wanted = text.toUpperCase(Locale.ROOT);
        List<Found> exact = all().stream()
                .filter(found -> found.entry().name().equalsIgnoreCase(text))
                .toList();
        if (!exact.isEmpty()) {
            return exact;
        }
        return all().stream()
                .filter(found -> isLike(found.entry().name().toUpperCase(Locale.ROOT), wanted))
                .toList();
    }

    /** Whether a wanted name with {@code *} is the beginning of a device's, in which an X after the first letters is any letter. */
    private static boolean isLike(String device, String wanted) {
        int from = 0;
        String[] parts = wanted.split("\\*", -1);
        for (int i = 0; i < parts.length; i++) {
            int at = from;
            while (at + parts[i].length() <= device.length() && !isAt(device, at, parts[i])) {
                at++;
            }
            if (at + parts[i].length() > device.length() || (i == 0 && at > 0)) {
                return false;
            }
            from = at + parts[i].length();
        }
        return true;
    }

    private static boolean isAt(String device, int at, String part) {
        for (int i = 0; i < part.length(); i++) {
            char letter = device.charAt(at + i);
            if (letter != part.charAt(i) && !(letter == 'X' && Character.isLetterOrDigit(part.charAt(i)))) {
                return false;
            }
        }
        return true;
    }

    /**
     * The one device that a text names, of which all variants may be meant if they do not differ.
     *
     * @throws KilnException that lists the devices if there are several, or the nearest names if there is none
     */
    Found device(String text) {
        List<Found> found = matching(text);
        List<Found> ofDevice = found.stream()
                .filter(each -> each.entry().device().equalsIgnoreCase(text))
                .toList();
        List<Found> candidates = ofDevice.isEmpty() ? found : ofDevice;
        if (text.isBlank() || candidates.isEmpty()) {
            throw unknown(text);
        }
        Device first = Device.of(candidates.get(0).entry());
        boolean areEqual = candidates.stream().allMatch(each -> isEqual(Device.of(each.entry()), first));
        if (!areEqual) {
            throw Failure.BOARD.exception(
                    text + " is the beginning of " + candidates.size() + " devices",
                    place.toString(),
                    "one of "
                            + String.join(
                                    ", ",
                                    candidates.stream()
                                            .limit(MOST_SHOWN)
                                            .map(each -> each.entry().name())
                                            .toList())
                            + (candidates.size() > MOST_SHOWN ? ", …" : ""),
                    "Name the device as a whole");
        }
        return candidates.get(0);
    }

    private KilnException unknown(String text) {
        List<String> names = all().stream().map(each -> each.entry().name()).toList();
        String near = text.isBlank() ? "" : NearMiss.didYouMean(text.toUpperCase(Locale.ROOT), names);
        return Failure.BOARD.exception(
                text.isBlank() ? "no device is named" : "the pack has no device " + text,
                place.toString(),
                "one of its " + names.size() + " devices",
                (near.isEmpty() ? "" : near + " ") + "kiln:devices lists them");
    }

    private static boolean isEqual(Device one, Device other) {
        return one.processors().equals(other.processors())
                && one.memories().stream()
                        .map(memory -> memory.at(""))
                        .toList()
                        .equals(other.memories().stream()
                                .map(memory -> memory.at(""))
                                .toList())
                && one.papers().defines().equals(other.papers().defines());
    }

    private static KilnException refused(String what, Path where, String expected) {
        return Failure.BOARD.exception(what, where.toString(), expected);
    }

    /**
     * A device for people who look for one.
     *
     * @param name of the device or variant
     * @param cores of the device
     * @param clock that it takes at most
     * @param flash where code lies, its size
     * @param ram all RAM that programs use, its size
     * @param pack vendor, name and version
     * @param problem why no board can be made of it; empty if one can
     */
    public record DeviceSummary(
            String name, String cores, String clock, String flash, String ram, String pack, String problem) {
        private static final String NONE = "-";
        private static final long MEGA = 1_000_000;

        static DeviceSummary of(Found found) {
            String pack = BoardWriter.printable(found.pack().description().id());
            String name = BoardWriter.printable(found.entry().name());
            try {
                Device device = Device.of(found.entry());
                Map.Entry<String, Map<String, String>> first = DeviceBoard.firstCore(device);
                CoreTarget target = CoreTarget.of(first.getValue(), device.name());
                MemoryPlan plan = new MemoryPlanner(device, first.getKey(), target, 0).plan();
                String cores = device.processors().values().stream()
                        .map(each -> BoardWriter.printable(each.getOrDefault("Dcore", "?")))
                        .collect(Collectors.joining(" + "));
                String clock = first.getValue().getOrDefault("Dclock", "");
                long ram = plan.regions().stream()
                        .filter(each -> !each.isRom())
                        .mapToLong(Region::size)
                        .sum();
                return new DeviceSummary(
                        name,
                        cores,
                        clock.matches("[1-9][0-9]{5,9}") ? Long.parseLong(clock) / MEGA + " MHz" : NONE,
                        BoardText.size(plan.region(plan.code()).size()),
                        BoardText.size(ram),
                        pack,
                        "");
            } catch (KilnException e) {
                return new DeviceSummary(
                        name, NONE, NONE, NONE, NONE, pack, e.problems().get(0).what());
            }
        }
    }

    /**
     * The board profile that a device of a pack makes.
     *
     * @param files of its folder, by name: {@code board.yaml} and what belongs to it
     * @param device name of the device
     * @param most clock of the core that the device takes, in hertz; empty if the pack does not tell
     * @param questions what the pack leaves open
     */
    public record DeviceBoard(
            SortedMap<String, Bytes> files, String device, OptionalLong most, List<String> questions) {
        /** Name of the description of the peripherals in the board's folder, for debuggers. */
        public static final String SVD = "device.svd";

        /** Most bytes of that: the descriptions of large devices have a few megabytes. */
        public static final int MOST_SVD = 16 << 20;

        public DeviceBoard {
            questions = List.copyOf(questions);
        }

        /**
         * What is asked of a pack.
         *
         * @param name {@code [vendor::]device[:core]}; of several cores the pack's first one counts if none is named
         * @param offset bytes at the beginning of the code's memory that belong to a boot loader
         * @param hertz the clock of the core that the profile states; empty for the most that the device takes
         * @param isWhole whether the profile extends no other one, which would have start-up code, console and clock
         */
        public record Request(String name, long offset, OptionalLong hertz, boolean isWhole) {}

        /**
         * Makes the profile of a device.
         *
         * @param id of the board
         * @throws KilnException if there is no such device, if Kiln does not compile for its core, or if its memories do not suffice
         */
        public static DeviceBoard of(Packs packs, Request request, String id) {
            String name = request.name().strip();
            String plain = name.substring(name.indexOf("::") < 0 ? 0 : name.indexOf("::") + 2);
            int colon = plain.indexOf(':');
            Packs.Found found = packs.device(colon < 0 ? plain : plain.substring(0, colon));
            Device device = Device.of(found.entry());
            String core = core(device, colon < 0 ? Optional.empty() : Optional.of(plain.substring(colon + 1)));
            return new BoardWriter(found.pack(), device, core, request).write(id);
        }

        private static String core(Device device, Optional<String> named) {
            Map<String, Map<String, String>> cores = device.processors();
            String core = named.orElseGet(() -> firstCore(device).getKey());
            if (!cores.containsKey(core)) {
                throw refused(
                        device.name() + " has no core " + core,
                        cores.containsKey("")
                                ? "the device's name alone"
                                : "one of " + String.join(", ", cores.keySet()));
            }
            return core;
        }

        /** The core that counts if none is named, with its attributes. */
        static Map.Entry<String, Map<String, String>> firstCore(Device device) {
            return device.processors().entrySet().stream()
                    .findFirst()
                    .orElseThrow(() -> refused("the pack names no core of " + device.name(), "a processor element"));
        }

        private static KilnException refused(String what, String expected) {
            return Failure.BOARD.exception(what, "kiln.device", expected);
        }
    }

    /** The files of a pack. They are found whatever the case of their letters, as on the computers of their authors. */
    sealed interface PackFiles {
        /** Descriptions of peripherals have a few megabytes, descriptions of packs less. */
        int MOST_BYTES = 32 << 20;

        /** Paths of all files for which something holds, sorted. */
        List<String> names(Predicate<String> wanted);

        /**
         * A file; empty if the pack, as far as it is there, has none of this path.
         *
         * @throws KilnException if it cannot be read safely
         */
        Optional<Bytes> read(String path);

        /**
         * A pack as vendors publish it.
         *
         * @param file a zip
         * @param all its names
         */
        record Zip(Path file, List<String> all) implements PackFiles {
            /** Packs have up to half a gigabyte; only a few files of one are read. */
            private static final Kind PACKS = new Kind(
                    "a CMSIS-Pack", "pack", "SVD/device.svd", 1, new Limits(1 << 30, 200_000, MOST_BYTES, MOST_BYTES));

            static Zip open(Path file) {
                return new Zip(file, List.copyOf(PlainZip.names(PACKS, file)));
            }

            @Override
            public List<String> names(Predicate<String> wanted) {
                return all.stream().filter(wanted).toList();
            }

            @Override
            public Optional<Bytes> read(String path) {
                return all.stream()
                        .filter(path::equalsIgnoreCase)
                        .min(Comparator.comparing(name -> !name.equals(path)))
                        .flatMap(name -> PlainZip.file(PACKS, file, name));
            }
        }

        /**
         * A pack that somebody unpacked, or only its description.
         *
         * @param root the folder of the description
         */
        record Folder(Path root) implements PackFiles {
            private static final int MOST_FILES = 200_000;
            private static final int MOST_DEPTH = 32;

            @Override
            public List<String> names(Predicate<String> wanted) {
                try (Stream<Path> walk = Files.walk(root, MOST_DEPTH)) {
                    return walk.limit(MOST_FILES)
                            .filter(Files::isRegularFile)
                            .map(path -> root.relativize(path).toString().replace('\\', '/'))
                            .filter(wanted)
                            .sorted()
                            .toList();
                } catch (IOException | UncheckedIOException e) {
                    throw FileFailure.of("cannot list", root, e);
                }
            }

            @Override
            public Optional<Bytes> read(String path) {
                Path folder = root.toAbsolutePath().normalize();
                for (String segment : path.split("/", -1)) {
                    Optional<Path> next = isPlain(segment) ? child(folder, segment) : Optional.empty();
                    if (next.isEmpty()) {
                        return Optional.empty();
                    }
                    folder = next.get();
                }
                return Files.isRegularFile(folder) ? Optional.of(content(folder)) : Optional.empty();
            }

            private static boolean isPlain(String segment) {
                return !segment.isBlank() && !segment.equals("..") && !segment.equals(".") && segment.indexOf(':') < 0;
            }

            private static Optional<Path> child(Path folder, String name) {
                if (!Files.isDirectory(folder)) {
                    return Optional.empty();
                }
                List<Path> alike = WholeFiles.list(folder).stream()
                        .filter(child -> child.getFileName().toString().equalsIgnoreCase(name))
                        .toList();
                return alike.stream()
                        .filter(child -> child.getFileName().toString().equals(name))
                        .findFirst()
                        .or(() -> alike.stream().findFirst());
            }

            private Bytes content(Path file) {
                try {
                    if (!file.toRealPath().startsWith(root.toRealPath())) {
                        throw Failure.BOARD.exception("the link leads out of the pack", file.toString());
                    }
                    return PackFiles.content(file);
                } catch (IOException e) {
                    throw FileFailure.of("cannot read", file, e);
                }
            }
        }

        /** A file that is read as a whole. */
        static Bytes content(Path file) {
            return WholeFiles.read(file, MOST_BYTES, Failure.BOARD);
        }

        /** Whether a name is that of a pack's description. */
        static boolean isDescription(String name) {
            return name.toLowerCase(Locale.ROOT).endsWith(".pdsc");
        }
    }

    /** Finds packs that are artifacts of a repository. */
    @FunctionalInterface
    public interface PackSource {
        /** Type of such artifacts, and the ending of their files. */
        String TYPE = "pack";

        /** No system has paths with two colons between words. A word of dots would lead out of a repository's folder. */
        Pattern COORDINATES = Pattern.compile("WORD:WORD:WORD".replace("WORD", "[A-Za-z0-9_][A-Za-z0-9_.-]*"));

        /** Finds none. */
        PackSource NONE = coordinates -> {
            throw Failure.BOARD.exception(
                    "packs cannot be fetched here", coordinates, "a file, or a build that Maven runs");
        };

        /**
         * Fetches an artifact.
         *
         * @param coordinates {@code group:artifact:version}
         * @throws KilnException if it cannot be fetched
         */
        Path fetch(String coordinates);

        /** Packs that are fetched like every other artifact. */
        static PackSource of(ArtifactFetcher fetcher) {
            return coordinates -> {
                String[] words = coordinates.split(":", -1);
                return fetcher.fetch(words[0], words[1], words[2], "", TYPE);
            };
        }

        /** Whether a pack is named by coordinates, rather than as a file. */
        static boolean areCoordinates(String text) {
            return COORDINATES.matcher(text).matches();
        }

        /**
         * The place of a pack.
         *
         * @param text a file, a folder, or coordinates
         * @param folder that a relative file is relative to
         * @throws KilnException if it is none of them, or cannot be fetched
         */
        default Path find(String text, Path folder) {
            try {
                return areCoordinates(text) ? fetch(text) : folder.resolve(text).normalize();
            } catch (InvalidPathException e) {
                throw new KilnException(
                        Failure.BOARD.problem(
                                "this names no pack: " + text, "kiln.pack", "a file, a folder or coordinates"),
                        e);
            }
        }
    }
}
