// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.Problems;
import io.kiln.cycles.core.CycleRange;
import io.kiln.cycles.memory.MemoryWait;
import io.kiln.cycles.memory.MemoryWait.Cache;
import io.kiln.cycles.memory.MemoryWait.DataCache;
import io.kiln.toolchain.board.Board.AlternativeWait;
import io.kiln.toolchain.board.Board.CodeFetch;
import io.kiln.toolchain.board.Board.Kind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * Reads how long a memory makes the core wait, and checks what a schema cannot.
 *
 * @param ofClock wait states that follow from the clock, for memories that state none
 */
record WaitParser(MergedProfile profile, Problems problems, OptionalInt ofClock) {
    /** The key {@code wait} of a memory. */
    Optional<MemoryWait> read(JsonNode node, String pointer) {
        if (!node.isObject()) {
            return Optional.empty();
        }
        if (!node.has("states") && ofClock.isEmpty()) {
            add("the key \"states\" is missing", pointer, "a number, or for the memory itself a clock with a family");
        }
        int lineBytes = node.get("lineBytes").asInt();
        Optional<Cache> fetch = cache(node.path("fetch"), pointer + "/fetch");
        Optional<CycleRange> miss = range(node.path("missCycles"), pointer + "/missCycles");
        MemoryWait wait = new MemoryWait(
                node.path("states").asInt(ofClock.orElse(0)),
                lineBytes,
                node.path("prefetch").asBoolean(false),
                fetch,
                data(node, pointer),
                miss);
        if (node.path("shared").asBoolean(false) && fetch.isEmpty()) {
            add("a cache is shared that the memory does not have", pointer + "/shared", "the key fetch beside it");
        }
        if (miss.isPresent() && fetch.isEmpty() && wait.data().isEmpty()) {
            add("lines are missing in no cache", pointer + "/missCycles", "the key fetch or data beside it");
        }
        if (miss.isEmpty()) {
            fetch.ifPresent(cache -> checkSector(cache, lineBytes, pointer + "/fetch"));
            wait.data()
                    .filter(DataCache.Own.class::isInstance)
                    .map(DataCache.Own.class::cast)
                    .ifPresent(own -> checkSector(own.cache(), lineBytes, pointer + "/data"));
        }
        return Optional.of(wait);
    }

    /** The key {@code fetch} of a memory. */
    Optional<CodeFetch> fetch(JsonNode node, Kind kind, String pointer) {
        if (node.isMissingNode()) {
            return Optional.empty();
        }
        if (kind == Kind.ROM) {
            add("the memory is read-only, and says how it fetches code", pointer, "the key for memories of kind ram");
        }
        return Arrays.stream(CodeFetch.values())
                .filter(fetch -> fetch.key().equals(node.asText()))
                .findFirst();
    }

    /** The key {@code alternatives} of a memory. */
    List<AlternativeWait> alternatives(JsonNode node, String pointer) {
        List<AlternativeWait> all = new ArrayList<>();
        WaitParser withoutClock = new WaitParser(profile, problems, OptionalInt.empty());
        for (int i = 0; i < node.size(); i++) {
            JsonNode one = node.get(i);
            OptionalLong hertz =
                    one.has("hertz") ? OptionalLong.of(one.get("hertz").asLong()) : OptionalLong.empty();
            withoutClock
                    .read(one.path("wait"), pointer + "/" + i + "/wait")
                    .ifPresent(wait ->
                            all.add(new AlternativeWait(one.path("title").asText(), hertz, wait)));
        }
        return all;
    }

    private Optional<DataCache> data(JsonNode node, String pointer) {
        boolean isShared = node.path("shared").asBoolean(false);
        Optional<DataCache> own = cache(node.path("data"), pointer + "/data").map(DataCache.Own::new);
        if (isShared && own.isPresent()) {
            add("constants have two caches", pointer, "either data or shared: true");
        }
        return isShared ? Optional.of(new DataCache.Shared()) : own;
    }

    private Optional<Cache> cache(JsonNode node, String pointer) {
        if (!node.isObject()) {
            return Optional.empty();
        }
        int lineBytes = node.get("lineBytes").asInt();
        Cache cache = new Cache(
                node.get("lines").asInt(),
                lineBytes,
                node.get("ways").asInt(),
                node.path("sectorBytes").asInt(lineBytes));
        if (cache.sectorBytes() > lineBytes) {
            add("a sector is larger than its line", pointer + "/sectorBytes", "at most " + lineBytes);
        }
        boolean isWhole =
                cache.ways() == 0 || (cache.lines() % cache.ways() == 0 && Integer.bitCount(cache.sets()) == 1);
        if (!isWhole) {
            add(
                    cache.lines() + " lines are no sets of " + cache.ways() + " ways",
                    pointer + "/lines",
                    "the ways times a power of two");
        }
        return Optional.of(cache);
    }

    /** Without a price of their own, misses are single reads. */
    private void checkSector(Cache cache, int lineBytes, String pointer) {
        if (cache.sectorBytes() != lineBytes) {
            add(
                    "a miss reads " + cache.sectorBytes() + " bytes, and an access " + lineBytes,
                    pointer,
                    "sectorBytes: " + lineBytes + ", or the key missCycles");
        }
    }

    private Optional<CycleRange> range(JsonNode node, String pointer) {
        if (!node.isArray()) {
            return Optional.empty();
        }
        long low = node.get(0).asLong();
        long expected = node.get(1).asLong();
        long high = node.get(2).asLong();
        if (low > expected || expected > high) {
            add("the cycles are not in order", pointer, "the least, the expected and the most");
            return Optional.empty();
        }
        return Optional.of(new CycleRange(low, expected, high));
    }

    private void add(String what, String pointer, String expected) {
        problems.add(what, profile.where(pointer), expected);
    }
}
