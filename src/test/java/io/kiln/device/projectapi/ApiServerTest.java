// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.projectapi;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.base.KeptLog;
import io.kiln.device.projectapi.ServerInfo.ProjectOption.OptionValues;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the server makes of lines, whatever they hold. */
final class ApiServerTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String INFO =
            "{\"jsonrpc\":\"2.0\",\"method\":\"server_info_query\",\"params\":{\"tvm_version\":\"0.16.0\"},\"id\":1}";
    private final EchoHandler handler = new EchoHandler();

    private List<JsonNode> replies(String... lines) throws IOException {
        ByteArrayOutputStream replies = new ByteArrayOutputStream();
        byte[] requests = (String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8);
        ApiServer.serve(new ByteArrayInputStream(requests), replies, handler, new KeptLog());
        List<JsonNode> nodes = new ArrayList<>();
        for (String line : replies.toString(StandardCharsets.UTF_8).split("\n", -1)) {
            if (!line.isEmpty()) {
                nodes.add(JSON.readTree(line));
            }
        }
        return nodes;
    }

    private static String request(String method, String params) {
        return "{\"jsonrpc\":\"2.0\",\"method\":\"" + method + "\",\"params\":" + params.replace('\'', '"')
                + ",\"id\":7}";
    }

    @Test
    void everyMethodIsCalledAndAnswered() throws IOException {
        List<JsonNode> replies = replies(
                INFO,
                request(
                        "generate_project",
                        "{'model_library_format_path':'/m.tar','standalone_crt_dir':'/crt','project_dir':'/p','options':{'x':1}}"),
                request("build", "{'options':{'board':'a'}}"),
                request("open_transport", "{'options':{}}"),
                request(
                        "write_transport",
                        "{'data':'" + Base85.encode(new byte[] {1, 2, 3, 4, 5, 6, 7}) + "','timeout_sec':null}"),
                request("read_transport", "{'n':3,'timeout_sec':0}"),
                request("read_transport", "{'n':300,'timeout_sec':null}"),
                request("read_transport", "{'n':1,'timeout_sec':0.01}"),
                request("close_transport", "{}"),
                request("close_transport", "{}"));
        assertThat(replies.get(0)).isEqualTo(JSON.readTree("""
                                {"jsonrpc":"2.0","id":1,"result":{"platform_name":"echo","is_template":true,
                                "model_library_format_path":"","project_options":[{"name":"board","choices":["b","a"],
                                "default":null,"type":"str","required":["build"],"optional":null,"help":"Which."}],
                                "protocol_version":1}}"""));
        assertThat(handler.calls()).containsExactly("/m.tar /crt /p {\"x\":1}", "build");
        assertThat(replies.get(3).path("result").path("timeouts")).isEqualTo(JSON.readTree("""
                                {"session_start_retry_timeout_sec":0.5,"session_start_timeout_sec":0.0,
                                "session_established_timeout_sec":7.0}"""));
        assertThat(replies.get(4).path("result").isNull()).isTrue();
        assertThat(Base85.decode(replies.get(5).path("result").path("data").asText()))
                .containsExactly(1, 2, 3);
        assertThat(Base85.decode(replies.get(6).path("result").path("data").asText()))
                .containsExactly(4, 5, 6, 7);
        assertThat(error(replies.get(7))).isEqualTo("-32000 IoTimeoutError");
        assertThat(replies.subList(8, 10))
                .allMatch(reply -> reply.path("result").isNull());
        assertThat(replies).hasSize(10).allMatch(reply -> reply.path("id").isInt());
    }

    private static String error(JsonNode reply) {
        return reply.path("error").path("code") + " "
                + reply.path("error").path("message").asText();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "fly   | {}                                  | -32601 fly: no such method",
                "build | {}                                  | -32602 method build: parameter options not given",
                "build | {'options':[]}                      | -32602 method build: parameter options: want dict, got list",
                "build | {'options':{},'b':1,'a':2}          | -32602 build: extra parameters: b, a",
                "read_transport | {'n':1.5,'timeout_sec':0}  | -32602 method read_transport: parameter n: want int, got float",
                "read_transport | {'n':true,'timeout_sec':0} | -32602 method read_transport: parameter n: want int, got bool",
                "read_transport | {'timeout_sec':'1'}        | -32602 method read_transport: parameter n not given",
                "read_transport | {'n':1,'timeout_sec':'1'}  | -32602 method read_transport: parameter timeout_sec: want float or None, got str",
                "read_transport | {'n':1,'timeout_sec':0}    | -32000 TransportClosedError",
                "read_transport | {'n':0,'timeout_sec':0}    | -32000 calling method read_transport",
                "write_transport | {'data':'~~~~~','timeout_sec':0} | -32000 calling method write_transport",
                "server_info_query | {'tvm_version':null}    | -32602 method server_info_query: parameter tvm_version: want str, got NoneType",
                "build | {'options':{'board':'c'}}           | -32000 calling method build",
                "build | {'options':{'board':null}}          | -32000 calling method build",
                "flash | {'options':{}}                      | -32000 calling method flash"
            })
    void aFailureIsReportedAndTheServerGoesOn(String method, String params, String expected) throws IOException {
        List<JsonNode> replies = replies(request(method, params), INFO);
        assertThat(error(replies.get(0))).isEqualTo(expected);
        assertThat(replies.get(0).path("id").intValue()).isEqualTo(7);
        boolean isOfHandler = expected.startsWith("-32000");
        assertThat(replies.get(0).path("error").path("data").path("traceback").isTextual())
                .isEqualTo(isOfHandler);
        assertThat(replies.get(1).path("result").path("platform_name").asText()).isEqualTo("echo");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "[]",
                "{}",
                "{'jsonrpc':'1.0','method':'build','params':{},'id':1}",
                "{'jsonrpc':2.0,'method':'build','params':{},'id':1}",
                "{'jsonrpc':'2.0','method':5,'params':{},'id':1}",
                "{'jsonrpc':'2.0','method':'a b','params':{},'id':1}",
                "{'jsonrpc':'2.0','method':'','params':{},'id':1}",
                "{'jsonrpc':'2.0','method':'build','params':[],'id':1}",
                "{'jsonrpc':'2.0','method':'build','id':1}",
                "{'jsonrpc':'2.0','method':'build','params':{},'id':1.5}",
                "{'jsonrpc':'2.0','method':'build','params':{},'id':[]}"
            })
    void whatIsNoRequestEndsTheServer(String line) throws IOException {
        List<JsonNode> replies = replies(line.replace('\'', '"'), INFO);
        assertThat(replies).hasSize(1);
        assertThat(replies.get(0).path("error").path("code").intValue()).isEqualTo(-32600);
        assertThat(replies.get(0).path("id").isNull()).isTrue();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {"nonsense", "{'jsonrpc':", "{} {}", "''"})
    void aLineThatIsNotJsonEndsTheServerWithoutAReply(String line) throws IOException {
        assertThat(replies(line, INFO)).isEmpty();
    }

    @Test
    void anIdIsGivenBackAsItCame() throws IOException {
        assertThat(replies(
                        INFO.replace("\"id\":1", "\"id\":\"x\""),
                        INFO.replace("\"id\":1", "\"id\":null"),
                        INFO.replace(",\"id\":1", "")))
                .extracting(reply -> reply.path("id").toString())
                .containsExactly("\"x\"", "null", "null");
    }

    /** A read without a limit ends with its client. */
    @Test
    void aClientThatIsGoneIsNotWaitedFor() throws IOException {
        List<JsonNode> replies = replies(
                request("open_transport", "{'options':{}}"), request("read_transport", "{'n':1,'timeout_sec':null}"));
        assertThat(error(replies.get(1))).isEqualTo("-32000 IoTimeoutError");
    }

    @Test
    void aWriteThatIsNotTakenInTimeIsReported() throws IOException {
        assertThat(error(replies(
                                request("open_transport", "{'options':{}}"),
                                request(
                                        "write_transport",
                                        "{'data':'" + Base85.encode(new byte[9]) + "','timeout_sec':0}"))
                        .get(1)))
                .isEqualTo("-32000 IoTimeoutError");
    }

    /** The client that reads replies is gone: a failure to write ends the server. */
    @Test
    void aBrokenPipeEndsTheServer() throws IOException {
        PipedInputStream reader = new PipedInputStream();
        try (PipedOutputStream replies = new PipedOutputStream(reader)) {
            reader.close();
            KeptLog log = new KeptLog();
            byte[] requests = (INFO + "\n" + INFO + "\n").getBytes(StandardCharsets.UTF_8);
            ApiServer.serve(new ByteArrayInputStream(requests), replies, handler, log);
            assertThat(log.said()).anyMatch(line -> line.startsWith("the client is gone"));
        }
    }

    /** Damaged lines neither hang the server nor get it to fail otherwise than by a reply. */
    @Test
    void damagedRequestsAreAnsweredOrEndTheServer() throws IOException {
        Random random = new Random(5);
        byte[] whole =
                (INFO + "\n" + request("build", "{'options':{'board':'a'}}") + "\n").getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < 3000; i++) {
            byte[] damaged = whole.clone();
            for (int changes = 1 + random.nextInt(3); changes > 0; changes--) {
                damaged[random.nextInt(damaged.length)] = (byte) random.nextInt(256);
            }
            ByteArrayOutputStream replies = new ByteArrayOutputStream();
            ApiServer.serve(new ByteArrayInputStream(damaged), replies, handler, new KeptLog());
            for (String line : replies.toString(StandardCharsets.UTF_8).split("\n", -1)) {
                assertThat(line.isEmpty() || JSON.readTree(line).has("id")).isTrue();
            }
        }
    }

    @Test
    void valuesAreHeldAgainstTheirDescriptions() throws IOException {
        OptionValues earlier = values("{'board':'a','heap':1,'verbose':true}");
        OptionValues both = values("{'heap':2,'board':null}").orElse(earlier);
        assertThat(both.text("board")).contains("a");
        assertThat(both.number("heap")).contains(2L);
        assertThat(both.flag("verbose")).isTrue();
        assertThat(both.text("missing")).isEmpty();
    }

    private static OptionValues values(String text) throws IOException {
        return new OptionValues(
                (com.fasterxml.jackson.databind.node.ObjectNode) JSON.readTree(text.replace('\'', '"')));
    }
}
