import kafka.server.KafkaConfig;
import scala.jdk.javaapi.CollectionConverters;

/** Prints the name of every broker setting, one a line. */
public class BrokerSettingNames {
  public static void main(String[] args) {
    CollectionConverters.asJava(KafkaConfig.configNames()).forEach(System.out::println);
  }
}
