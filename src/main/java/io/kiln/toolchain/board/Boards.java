// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.NearMiss;
import io.kiln.base.Problems;
import io.kiln.toolchain.board.BoardFiles.BoardArchive;
import io.kiln.toolchain.board.BoardFiles.MergedProfile;
import io.kiln.toolchain.board.BoardFiles.MergedProfile.Layer;
import io.kiln.toolchain.board.LinkerMemories.LinkerVariant;
import io.kiln.toolchain.board.RunnerDefinition.Runners;
import io.kiln.toolchain.fence.LinkerScript;
import io.kiln.toolchain.fence.LinkerScript.ScriptIncludes;
import io.kiln.toolchain.fence.Refusals.Refusal;
import io.kiln.toolchain.pack.Packs;
import io.kiln.toolchain.pack.Packs.DeviceBoard;
import io.kiln.toolchain.pack.Packs.PackSource;
import io.kiln.toolchain.yaml.YamlDocument;
import io.kiln.toolchain.yaml.YamlDocument.YamlSchema;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * All boards: a project's own, which replace others of the same id, the built-in ones, and those of artifacts from
 * repositories. Ids of the latter two kinds must be unique.
 */
public final class Boards {
    /** The key, and the built-in profile with console and start-up code for devices of which nothing more is known. */
    static final String KEY = "device";

    private final List<BoardFiles> places;
    private final PackSource packs;

    /** Holds the schema, which is loaded only for profiles that are not built in. */
    private static final class Schema {
        static final YamlSchema OF_BOARDS = new YamlSchema("board.schema.json");
    }

    private Boards(List<BoardFiles> places, PackSource packs) {
        this.places = List.copyOf(places);
        this.packs = packs;
    }

    public static Boards builtIn() {
        return new Boards(List.of(BoardFiles.BuiltIn.load()), PackSource.NONE);
    }

    /** These boards, whose devices' packs may be artifacts. */
    public Boards with(PackSource source) {
        return new Boards(places, source);
    }

    /** These boards and those of a folder with one folder per board; the folder may be absent. */
    public Boards with(Path folder) {
        List<BoardFiles> all = new ArrayList<>();
        all.add(new BoardFiles.Folder(folder));
        all.addAll(places);
        return new Boards(all, packs);
    }

    /**
     * These boards and those of an artifact from a repository. An untrusted profile is refused if it has anything that
     * could run programs or read files on this computer; the error says why.
     *
     * @param zip the artifact's file
     * @param coordinates {@code group:artifact:version}
     * @param trusted what the build trusts: {@code group:artifact}, {@code group:artifact:version} or {@code
     *     group:artifact:version:id}; other entries have no effect
     * @throws KilnException if it is not a zip of profiles, or cannot be read safely
     */
    public Boards with(Path zip, String coordinates, Set<String> trusted) {
        List<BoardFiles> all = new ArrayList<>(places);
        all.add(BoardFiles.Archive.load(zip, coordinates, Set.copyOf(trusted)));
        return new Boards(all, packs);
    }

    /** Ids of the profiles in a folder, abstract ones included; none if the folder is absent. */
    public static SortedSet<String> in(Path folder) {
        return new BoardFiles.Folder(folder).ids();
    }

    /**
     * Writes a folder's profiles to a zip that {@link #with(Path, String, Set)} reads. Equal profiles give equal bytes.
     *
     * @throws KilnException if it has files that reading would refuse
     */
    public static void pack(Path folder, Path zip) {
        BoardArchive.write(new BoardFiles.Folder(folder), zip);
    }

    /**
     * The source of a profile: {@code built in}, {@code the project}, or an artifact's coordinates.
     *
     * @throws KilnException if there is no such profile
     */
    public String origin(String id) {
        return place(id).origin();
    }

    /** The {@code group:artifact:version:id} of each profile of this id from an artifact. */
    public List<String> coordinates(String id) {
        return places.stream()
                .filter(place ->
                        place instanceof BoardFiles.Archive && place.ids().contains(id))
                .map(place -> place.origin() + ":" + id)
                .toList();
    }

    /**
     * The files of a profile's own folder, without inherited ones.
     *
     * @throws KilnException if there is no such profile
     */
    public SortedMap<String, Bytes> ownFiles(String id) {
        return place(id).read(id).orElseThrow();
    }

    private BoardFiles place(String id) {
        return places.stream()
                .filter(place -> place.ids().contains(id))
                .findFirst()
                .orElseThrow(() -> unknown(id));
    }

    /** Ids of the boards that an image can be built for, sorted. Abstract profiles, which can only be extended, are not included. */
    public List<String> ids() {
        TreeSet<String> ids = new TreeSet<>();
        for (String id : folders()) {
            if (!isAbstract(id)) {
                ids.add(id);
            }
        }
        return List.copyOf(ids);
    }

    /**
     * The board of this id.
     *
     * @throws KilnException with the list of boards if there is none of this id, or with all errors of its profile
     */
    public Board find(String id) {
        if (!folders().contains(id)) {
            throw unknown(id);
        }
        Problems problems = new Problems(Failure.BOARD);
        List<MergedProfile.Layer> layers = layers(id, problems);
        layers.stream()
                .filter(layer -> layer.pack().isEmpty())
                .forEach(layer -> checkUnique(layer.document(), problems));
        problems.throwIfAny();
        layers.forEach(layer -> ForeignProfile.check(layer, problems));
        MergedProfile profile = new MergedProfile(id, layers);
        Board board = new BoardParser(profile, problems).parse();
        checkClock(board, profile, problems);
        checkStandIn(board, layers.get(0).document(), problems);
        ForeignProfile.checkWhole(board, layers, problems);
        problems.throwIfAny();
        return board.foreign() ? board.fenced() : board;
    }

    /**
     * The board whose emulator runs this board's objects: itself, or its stand-in; empty if none does. For an untrusted
     * board the emulator is fenced, because the board's headers are in every object.
     */
    public Optional<Board> emulated(Board board) {
        if (board.emulation() instanceof Emulation.StandIn standIn) {
            Board other = find(standIn.board());
            return Optional.of(board.foreign() ? other.fenced() : other);
        }
        return board.emulation() instanceof Emulation.None ? Optional.empty() : Optional.of(board);
    }

    private SortedSet<String> folders() {
        TreeSet<String> ids = new TreeSet<>();
        places.forEach(place -> ids.addAll(place.ids()));
        return ids;
    }

    private boolean isAbstract(String id) {
        try {
            return read(id).document().root().path("abstract").asBoolean(false);
        } catch (KilnException e) {
            return false; // a broken profile is listed; find reports its errors
        }
    }

    private MergedProfile.Layer read(String id) {
        BoardFiles place = place(id);
        SortedMap<String, Bytes> files = place.read(id).orElseThrow();
        String name = place.describe(id, BoardFiles.DESCRIPTOR);
        YamlDocument document = YamlDocument.parse(name, files.get(BoardFiles.DESCRIPTOR));
        return new MergedProfile.Layer(document, files, place.untrusted(id), Optional.empty());
    }

    private List<MergedProfile.Layer> layers(String id, Problems problems) {
        List<MergedProfile.Layer> layers = new ArrayList<>();
        List<String> chain = new ArrayList<>();
        String next = id;
        while (!next.isEmpty()) {
            chain.add(next);
            MergedProfile.Layer layer = read(next);
            layers.add(layer);
            YamlDocument document = layer.document();
            // Tests have checked the built-in profiles, so that builds need not.
            if (!(place(next) instanceof BoardFiles.BuiltIn)) {
                Schema.OF_BOARDS.check(document, problems);
            }
            checkId(document, next, problems);
            String base = document.root().path("extends").asText("");
            if (document.root().has(KEY) && problems.isEmpty() && !hasDevice(layers)) {
                MergedProfile.Layer device = deviceLayer(layers, place(next), next, packs);
                Schema.OF_BOARDS.check(device.document(), problems);
                layers.add(device);
                base = base.isEmpty() ? device.document().root().path("extends").asText("") : base;
            }
            next = base;
            if (chain.contains(next)) {
                problems.add(
                        "the profiles extend each other in a circle: " + String.join(" → ", chain) + " → " + next,
                        document.where("/extends"),
                        "",
                        "Remove one \"extends\"");
                break;
            }
            if (!next.isEmpty() && !folders().contains(next)) {
                problems.add(
                        "the profile " + next + " that this one extends does not exist",
                        document.where("/extends"),
                        "one of " + folders());
                break;
            }
        }
        checkConcrete(id, layers.get(0).document(), problems);
        return layers;
    }

    /** Whether a nearer profile has named the device. */
    private static boolean hasDevice(List<MergedProfile.Layer> layers) {
        return layers.stream().anyMatch(layer -> layer.pack().isPresent());
    }

    private static void checkConcrete(String id, YamlDocument document, Problems problems) {
        if (document.root().path("abstract").asBoolean(false)) {
            problems.add(id + " is abstract and can only be extended", document.where("/abstract"), "a board");
        }
    }

    /** A project's own profile may replace another; two others with one id are a mistake or an attack. */
    private void checkUnique(YamlDocument document, Problems problems) {
        String id = document.root().path("id").asText();
        List<String> origins = new ArrayList<>();
        for (BoardFiles place : places) {
            if (place.ids().contains(id)) {
                if (place instanceof BoardFiles.Folder) {
                    return;
                }
                origins.add(place.describe(id, BoardFiles.DESCRIPTOR));
            }
        }
        if (origins.size() > 1) {
            problems.add(
                    "there are " + origins.size() + " profiles " + id + ": " + String.join("; ", origins),
                    "kiln.board",
                    "one",
                    "Remove one of the artifacts");
        }
    }

    private static void checkId(YamlDocument document, String folder, Problems problems) {
        String id = document.root().path("id").asText(folder);
        if (!id.equals(folder)) {
            problems.add("the id is " + id + " but the folder is " + folder, document.where("/id"), "both the same");
        }
    }

    private void checkStandIn(Board board, YamlDocument document, Problems problems) {
        if (board.emulation() instanceof Emulation.StandIn standIn) {
            String where = document.where("/emulator/standIn");
            if (standIn.board().equals(board.id()) || !folders().contains(standIn.board())) {
                problems.add(
                        "the stand-in " + standIn.board() + " is not another existing board",
                        where,
                        "a board with an emulator of its own");
            } else if (!hasQemu(standIn.board())) {
                problems.add(
                        "the stand-in " + standIn.board() + " has no emulator of its own",
                        where,
                        "a board that QEMU emulates");
            }
        }
    }

    private boolean hasQemu(String id) {
        return new MergedProfile(id, layers(id, new Problems(Failure.BOARD)))
                .find("emulator")
                .filter(node -> node.has("qemu"))
                .isPresent();
    }

    private KilnException unknown(String id) {
        List<String> ids = ids();
        List<String> near = ids.stream()
                .filter(known -> NearMiss.distance(known, id.toLowerCase(Locale.ROOT)) <= 3)
                .toList();
        String next = near.isEmpty()
                ? "kiln:boards shows them; a project's own go into src/main/boards"
                : "Did you mean " + String.join(" or ", near) + "?";
        return Failure.BOARD.exception(
                "there is no board " + id, "kiln.board", "one of " + String.join(", ", ids), next);
    }

    /**
     * The profile that the key {@code device} stands for: what a pack says of a device, between a profile and the one that it extends.
     *
     * @param layers the profiles read so far, of which the last one names the device
     * @param place where that one lies
     * @param id its folder
     * @throws KilnException if the pack or the device cannot be used
     */
    private static Layer deviceLayer(List<Layer> layers, BoardFiles place, String id, PackSource packs) {
        YamlDocument document = layers.get(layers.size() - 1).document();
        JsonNode device = document.root().path(KEY);
        String pack = device.path("pack").asText();
        Path file = packs.find(pack, folder(place, id, pack, document));
        OptionalLong hertz = layers.stream()
                .map(layer -> layer.document().root().at("/timer/hertz"))
                .filter(JsonNode::isIntegralNumber)
                .mapToLong(JsonNode::asLong)
                .findFirst();
        DeviceBoard.Request request = new DeviceBoard.Request(
                device.path("name").asText(),
                device.path("offset").asLong(0),
                hertz,
                document.root().path("extends").asText(KEY).equals(KEY));
        try {
            DeviceBoard board = DeviceBoard.of(Packs.open(file), request, KEY);
            YamlDocument made = YamlDocument.parse(
                    "device " + board.device() + " of " + file, board.files().get(BoardFiles.DESCRIPTOR));
            Layer.Pack origin = new Layer.Pack(file, board.most());
            return new Layer(made, board.files(), Optional.empty(), Optional.of(origin));
        } catch (KilnException e) {
            throw e.relocated("kiln.device", document.where("/device/name"))
                    .relocated("device.offset", document.where("/device/offset"));
        }
    }

    /** Only a profile of the project itself may name a file: it is the user's own. */
    private static Path folder(BoardFiles place, String id, String pack, YamlDocument document) {
        if (place instanceof BoardFiles.Folder folder) {
            return folder.root().resolve(id);
        }
        if (!PackSource.areCoordinates(pack)) {
            throw Failure.BOARD.exception(
                    "a profile from a repository names a pack by a path",
                    document.where("/device/pack"),
                    "group:artifact:version");
        }
        return Path.of("");
    }

    /** Checks that the core counts no more cycles in a second than the device takes. */
    private static void checkClock(Board board, MergedProfile profile, Problems problems) {
        OptionalLong most = profile.pack().map(Layer.Pack::most).orElse(OptionalLong.empty());
        board.timer()
                .filter(timer -> timer.countsCycles() && most.isPresent() && timer.hertz() > most.getAsLong())
                .ifPresent(timer -> problems.add(
                        "the core's clock is " + timer.hertz() + " Hz",
                        profile.exactly("/timer/hertz"),
                        "at most " + most.getAsLong() + ", which the device takes",
                        "Give the board start-up code for this device, and its clock"));
    }

    /**
     * Checks an untrusted profile from a repository. Its own emulator is refused entirely: QEMU's arguments name files and
     * networks, and a plain executable has access to this computer. OpenOCD's scripts are programs in Tcl: only those of
     * OpenOCD itself may be named. A Project API server and a command that flashes are programs, too. Linker scripts are checked against a grammar. C is checked later by the firmware build,
     * after preprocessing.
     */
    private static final class ForeignProfile {
        private static final Pattern SHIPPED_SCRIPT = Pattern.compile(
                "(interface|target|board)(/[A-Za-z0-9][A-Za-z0-9_+-]*(\\.[A-Za-z0-9_+-]+)*){1,3}\\.cfg");

        /** Files that an untrusted profile may have. Others could be read by a tool without being named, such as a precompiled header. */
        private static final Pattern FILE = Pattern.compile(
                ".*\\.(c|h|S|s|inc|ld|yaml|md|txt|svd|json|png|jpg|svg|pdf)|(.*/)?(LICENSE|LICENCE|NOTICE|COPYING|tuning\\.log)");

        private static final Pattern SCRIPT = Pattern.compile(".*\\.(cfg|tcl)");

        private ForeignProfile() {}

        /** Adds everything that is refused, with its line or file. */
        static void check(MergedProfile.Layer layer, Problems problems) {
            if (!layer.foreign()) {
                return;
            }
            checkPrograms(layer, problems);
            checkFiles(layer, problems);
        }

        private static void checkPrograms(MergedProfile.Layer layer, Problems problems) {
            YamlDocument document = layer.document();
            JsonNode emulator = document.root().path("emulator");
            for (String key : List.of("qemu", "native")) {
                if (emulator.has(key)) {
                    refuse(
                            "an emulator of its own, which reaches this computer",
                            document.where("/emulator/" + key),
                            layer,
                            problems);
                }
            }
            for (String key : List.of("interface", "target")) {
                JsonNode script = document.root().at("/flash/openocd/" + key);
                if (!script.isMissingNode()
                        && !SHIPPED_SCRIPT.matcher(script.asText()).matches()) {
                    refuse("Tcl of its own for OpenOCD", document.where("/flash/openocd/" + key), layer, problems);
                }
            }
            if (document.root().at("/flash/programs").has(Runners.COMMAND)) {
                refuse(
                        "a command, which is a program that runs with your rights",
                        document.where("/flash/programs/" + Runners.COMMAND),
                        layer,
                        problems);
            }
            if (document.root().path("flash").has("projectApi")) {
                refuse(
                        "a Project API server, which is a program that runs with your rights",
                        document.where("/flash/projectApi"),
                        layer,
                        problems);
            }
            if (document.root().path("flash").has("service")) {
                refuse(
                        "options for a flash service, which is a program that runs with your rights",
                        document.where("/flash/service"),
                        layer,
                        problems);
            }
        }

        private static void checkFiles(MergedProfile.Layer layer, Problems problems) {
            TreeSet<String> names = new TreeSet<>(layer.files().keySet());
            // It may include what it inherits, the sections shared by the built-in profiles, and what is made from it.
            names.addAll(List.of("sections.ld", "sections.code.ld", "sections.ram.ld", "sections.data.ld"));
            names.add(LinkerMemories.FILE);
            names.addAll(Stream.of(LinkerVariant.values())
                    .map(variant -> variant.of(LinkerMemories.FILE))
                    .toList());
            layer.files().forEach((name, content) -> {
                String where = layer.document().name().replace(BoardFiles.DESCRIPTOR, name);
                if (SCRIPT.matcher(name).matches()) {
                    refuse("Tcl of its own for OpenOCD", where, layer, problems);
                } else if (!FILE.matcher(name).matches()) {
                    refuse("a file of a kind that profiles do not have", where, layer, problems);
                }
                if (name.endsWith(".ld")) {
                    for (Refusal refusal : LinkerScript.refusals(where, content.text(), names)) {
                        refuse(refusal.what(), refusal.where(), layer, problems);
                    }
                }
            });
        }

        /** Adds errors that only show in the merged profile. */
        static void checkWhole(Board board, List<MergedProfile.Layer> layers, Problems problems) {
            for (String source : board.sources()) {
                if (board.foreignFiles().contains(source) && !source.endsWith(".c")) {
                    layers.stream()
                            .filter(layer -> layer.files().containsKey(source))
                            .findFirst()
                            .ifPresent(layer -> refuse(
                                    "an assembler source",
                                    layer.document().name().replace(BoardFiles.DESCRIPTOR, source),
                                    layer,
                                    problems));
                }
            }
            SortedMap<String, String> scripts = new TreeMap<>();
            board.files().forEach((name, content) -> {
                if (name.endsWith(".ld")) {
                    scripts.put(name, content.text());
                }
            });
            layers.stream()
                    .filter(MergedProfile.Layer::foreign)
                    .findFirst()
                    .ifPresent(layer -> ScriptIncludes.refusal(scripts)
                            .ifPresent(refusal -> refuse(refusal.what(), refusal.where(), layer, problems)));
            layers.stream()
                    .filter(layer -> layer.foreign() && board.isHost())
                    .findFirst()
                    .ifPresent(layer -> refuse(
                            "code that runs on this computer, since the board " + board.id() + " is this computer",
                            layer.document().where("/extends"),
                            layer,
                            problems));
        }

        private static void refuse(String what, String where, MergedProfile.Layer layer, Problems problems) {
            problems.add(
                    "refused in a profile from a repository: " + what,
                    where,
                    "",
                    Board.trustAdvice(layer.untrusted().stream().toList()));
        }
    }
}
