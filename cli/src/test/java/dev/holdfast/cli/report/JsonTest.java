package dev.holdfast.cli.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

public class JsonTest {
  @Test
  void writesObjectsArraysNumbersTruthAndNull() {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("number", 1.5);
    members.put("all", Arrays.asList(true, null, List.of(), Map.of("x", 2L)));

    assertThat(Json.of(members))
        .isEqualTo("{\"number\": 1.5, \"all\": [true, null, [], {\"x\": 2}]}");
  }

  @Test
  void escapesWhatTextMayNotHold() {
    assertThat(Json.of("a\"b\\c\n\u0000\u007fé\ud83d\ude00\ud83d"))
        .isEqualTo("\"a\\\"b\\\\c\\u000a\\u0000\u007fé\\ud83d\\ude00\\ud83d\"");
  }
}
