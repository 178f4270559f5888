// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.link;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.farm.link.AmqpLink.Condition;
import io.kiln.farm.link.FarmMessage.Manner;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ConditionTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '"',
            value = {
                "\"\"; true",
                "client = 'x'; true",
                "client = 'y'; false",
                "place = 'board' AND board IN ('a', 'b-1'); true",
                "place = 'board' AND board IN ('a'); false",
                "place = 'emulator' AND board IN ('a', 'b-1'); false",
                "needs = ''; true",
                "kind = 'run'; false",
                "place = 'board' AND board IN ('b-1') AND (takers IS NULL OR takers LIKE '%,w=1/left,%'); true",
                "place = 'board' AND board IN ('b-1') AND (takers IS NULL OR takers LIKE '%,w/left,%'); false"
            })
    void a_message_is_one_of_those_or_not(String filter, boolean isOne) {
        FarmMessage message = new FarmMessage(
                Map.of(
                        FarmQueues.CLIENT,
                        "x",
                        FarmQueues.PLACE,
                        "board",
                        FarmQueues.BOARD,
                        "b-1",
                        FarmQueues.TAKERS,
                        FarmQueues.takers(List.of(new FarmMember("", "v", "0"), new FarmMember("", "w_1", "left")))),
                Bytes.ofText(""),
                Manner.fleeting(Duration.ofSeconds(1)));
        assertThat(Condition.of(filter).holds(message)).isEqualTo(isOne);
    }
}
