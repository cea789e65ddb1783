package dev.holdfast.junit;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPathFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;

/** The extension works with the JUnit of its user. */
class OwnJUnitTest {
  /** An API of JUnit 5 beside the engine of JUnit 6 runs no test. */
  @Test
  void thisModuleBringsNoJUnitThatCouldDifferFromItsUsers() throws Exception {
    Document pom =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(Path.of("../junit/pom.xml").toFile());
    String scope =
        XPathFactory.newInstance()
            .newXPath()
            .evaluate("//dependency[artifactId='junit-jupiter-api']/scope", pom);

    assertThat(scope).isEqualTo("provided");
  }
}
